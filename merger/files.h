// The files of the program, unified by name, on local disks also by host, and by inode.
#pragma once

#include "merger/process_info.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hdtrace::merger {

/// How one process calls a file.
struct FileUse {
    std::int64_t rank = 0;
    std::int64_t thread = 0;
    std::int64_t id = 0;

    auto operator<=>(const FileUse&) const = default;
};

struct MergedFile {
    std::string name;
    std::string host;               ///< where it is, if another host has a file of this name; else empty
    std::int64_t initial_size = -1; ///< -1 if it is not known
    std::int64_t size_from = 0;     ///< the rank that saw the file first; name and size come from its record
    std::optional<std::int64_t> time; ///< when it did, in nanoseconds since the epoch
    std::vector<FileUse> uses;        ///< in the order of the ranks
};

class FileUnifier {
  public:
    /// @p thread is the one whose trace is in the .info's name.
    void add(std::int64_t rank, std::int64_t thread, const ProcessInfo& info);
    /// In the order of the names.
    std::vector<MergedFile> take();

  private:
    using Name = std::pair<std::string, std::string>; ///< with the only host that can see it, or none

    void unite_with_shared();
    std::size_t root(std::size_t file);
    std::size_t unite(std::size_t a, std::size_t b);

    std::vector<MergedFile> m_files;
    std::vector<std::size_t> m_parent; ///< a forest: united files have the same root, which holds the data
    std::map<Name, std::size_t> m_by_name;
    std::unordered_map<std::string, std::size_t> m_by_inode;
};

} // namespace hdtrace::merger
