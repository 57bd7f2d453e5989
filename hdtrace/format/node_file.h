// node_file.h - the files that are in a node file (docs/format.md): those of the processes of one host.
//
// Their paths are those that they would have beside it: app_node01.node has app_node01_0_0.trc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hdtrace::detail {

/// A part of a file that is in another one.
struct Extent {
    std::int64_t begin = 0; ///< in the file
    std::int64_t size = 0;
    std::int64_t offset = 0; ///< in the other one
};

/// Where a file is in a node file.
struct NodePlace {
    std::string node_file;
    std::vector<Extent> extents; ///< without gaps, in their order
    std::int64_t size = 0;
    std::int64_t modified =
        0; ///< when something was written to the node file, in nanoseconds since the epoch
    std::int64_t node_file_size = 0;
    bool has_gap = false; ///< something is missing behind the extents, and more of it is there
};

/// Nothing if no node file has the file of that path. What others have written to it since the last time is
/// seen. Throws OpenError. Thread-safe, as all that follows.
std::optional<NodePlace> place_in_node_file(const std::string& path);

/// The same without the place. False for what cannot be read.
bool is_in_node_file(const std::string& path);

/// Whether it is called as a node file; so may be something else, in which no files are.
bool is_node_file(std::string_view path);

/// The paths of the files in a node file, sorted. Throws as place_in_node_file().
std::vector<std::string> paths_in_node_file(const std::string& node_file);

/// Whether pieces may be missing at its end, of whichever of its files: it has become smaller than @p known,
/// as its project tells (0: nobody does), or ends within a piece that nobody is writing. Throws as
/// place_in_node_file().
bool is_cut_off(const std::string& node_file, std::int64_t known = 0);

/// Whether the process lives that has written a file of that path into a node file; false of other files.
/// Throws as place_in_node_file().
bool lives_in_node_file(const std::string& path);

/// A file whose process lives and still writes.
struct LivingFile {
    std::string path;
    std::int64_t process = 0; ///< -1 if it is one of another host
};
/// Those of which the name ends so. Throws as place_in_node_file().
std::vector<LivingFile> living_files(const std::string& node_file, std::string_view ending);

} // namespace hdtrace::detail
