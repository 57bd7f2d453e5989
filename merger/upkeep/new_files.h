// Files that are made together: all of them, or none.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hdtrace/format/node_file.h"

namespace hdtrace::merger {

/// What is told now and then while bytes are copied; it may end the work by throwing.
using ByteProgress = std::function<void(std::int64_t bytes)>;

/// Never replaces anything. What was made is removed again unless it is kept. Everything throws FileError.
class NewFiles {
  public:
    explicit NewFiles(ByteProgress progress);
    ~NewFiles();
    NewFiles(const NewFiles&) = delete;
    NewFiles& operator=(const NewFiles&) = delete;

    void make_folder(const std::string& path);
    /// The bytes of a file, and its owner, mode and times as far as this process may give them.
    void copy(const std::string& from, const std::string& to);
    /// The bytes of a file that is in a node file, as that has them; the rest is as of a copy of that.
    void copy_out(const detail::NodePlace& from, const std::string& to);
    /// The same file under another name too, where the file system can do that; else a copy.
    void link_or_copy(const std::string& from, const std::string& to);
    /// A text in the place of that of a file, from which it has the rest.
    void write(std::string_view text, const std::string& from, const std::string& to);

    /// When they are safe on the disk. @p folder is where they are.
    void keep(const std::string& folder);

  private:
    std::vector<std::string> m_files, m_folders;
    ByteProgress m_progress;
};

} // namespace hdtrace::merger
