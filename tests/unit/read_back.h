// What the reader finds in a trace that was just written: apart, since reader and writer both have an
// Element.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hdtrace::test {

struct ReadBack {
    std::vector<std::int64_t> times; ///< at which the states began, since the trace's
    std::vector<std::string> names;
    std::int64_t unfinished = 0;
    std::int64_t before = 0; ///< states that are not there any more
    bool has_segments = false;
    bool is_complete = false;
};

/// From @p begin on, in nanoseconds since the trace's.
ReadBack read_back(const std::string& path, std::int64_t begin = 0);

} // namespace hdtrace::test
