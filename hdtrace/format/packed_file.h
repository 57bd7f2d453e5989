// packed_file.h - the one place that knows files inside a file.
//
// A packed project is a ZIP file in which files are stored as they are (docs/tools.md). Their paths are those
// that they would have if it were a directory: run.hdt/app.proj. The paths of those in a node file are as if
// they were beside it (node_file.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hdtrace/format/node_file.h"

namespace hdtrace::detail {

/// Where the bytes of a file are.
struct FilePlace {
    std::string path;                 ///< on the disk
    std::int64_t offset = 0;          ///< of the first byte
    std::int64_t size = -1;           ///< -1 if it is all of a file, which may grow
    std::vector<Extent> extents = {}; ///< if it is in parts, which the offset is not for
    std::int64_t node_file_size = 0;  ///< of the node file that it is in; 0: it is in none
    bool has_gap = false;             ///< as that of NodePlace
};

/// The path itself, unless it leads into a packed file or a node file that has it.
FilePlace place_of(const std::string& path);

/// Whether something of it may be missing that only its node file tells: pieces before others, or at the end,
/// as is_cut_off() tells with @p known.
bool may_lack_pieces(const FilePlace& place, std::int64_t known);

/// Whether something is there, as std::filesystem::exists tells it, on the disk or in such a file.
bool is_there(const std::string& path);

/// How large a file is and when it was changed, there or there.
struct FileTime {
    std::int64_t size = 0;
    std::int64_t modified = 0; ///< nanoseconds since the epoch; 0 if a packed file does not tell
};
/// Throws OpenError.
FileTime file_time(const std::string& path);

/// Whether it is a regular file, there or there.
bool is_file(const std::string& path);

/// The names of the regular files in a directory, and of those in its node files. Throws
/// std::filesystem::filesystem_error, and what paths_in_node_file() throws.
std::vector<std::string> names_in_directory(const std::string& directory);

/// Whether it looks like a packed file.
bool is_packed_file(const std::string& path);

/// The names of the files in a packed file. Throws OpenError, and ReadError where it is damaged or has
/// something in it that is not stored as it is.
std::vector<std::string> packed_names(const std::string& path);

} // namespace hdtrace::detail
