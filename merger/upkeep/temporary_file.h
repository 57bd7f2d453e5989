// A file that gets its place only once it is whole.
#pragma once

#include "merger/upkeep/file_descriptor.h"

#include <string>
#include <string_view>

namespace hdtrace::merger {

/// Other than tools::OutputFile there may be any number at a time. Everything throws FileError.
class TemporaryFile {
  public:
    /// Beside @p place.
    explicit TemporaryFile(std::string place);
    /// Removes it, unless it has its place.
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    const std::string& path() const { return m_path; }
    void write(std::string_view bytes) { m_file.write(bytes); }
    /// With the owner, mode and times of @p original. An error if anything is there.
    void take_place_with(const std::string& original);
    /// Takes the place of the file that is there, with its owner, mode and times.
    void replace();

  private:
    std::string m_place;
    std::string m_path; ///< empty once it has its place
    FileDescriptor m_file;
};

} // namespace hdtrace::merger
