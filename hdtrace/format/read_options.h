// read_options.h - how files are read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hdtrace {

/// A plain value: it may be copied and read by any thread.
struct ReadOptions {
    std::size_t block_size = 64 * 1024; ///< bytes that are read at once and held in memory
    bool keep_open = true; ///< otherwise the file is opened for each block, as far as it can be opened again
    std::int64_t node_file_size = 0; ///< of the node file that it is in, at least, if that is whole
};

} // namespace hdtrace
