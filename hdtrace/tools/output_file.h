// output_file.h - a file that appears whole or not at all.
#pragma once

#include "hdtrace/tools/unfinished.h"

#include <string>
#include <string_view>
#include <sys/types.h>

namespace hdtrace::tools {

/// Writes to a temporary file beside @p path, which takes its place in commit(). Without commit() nothing
/// stays. There may be one at a time.
class OutputFile {
  public:
    static constexpr mode_t everyone = 0666;

    /// Whom @p mode and the umask allow may read it from the beginning. Throws FileError.
    explicit OutputFile(std::string path, mode_t mode = everyone);
    ~OutputFile();
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    int descriptor() const { return m_descriptor; }
    /// Where the file is before commit().
    const std::string& temporary_path() const { return m_file.path(); }
    /// Throws FileError.
    void write(std::string_view bytes);
    /// The file is safe only if this returned. Throws FileError, also if a file is there that @p overwrite
    /// does not let it replace.
    void commit(bool overwrite);

  private:
    int m_descriptor = -1;
    Unfinished m_file;
};

} // namespace hdtrace::tools
