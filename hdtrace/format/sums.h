// sums.h - sums over the calls of a thread, where a run was recorded without single calls
// (--statistics-only): a .stats file in the place of the trace (docs/format.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hdtrace/format/state.h"
#include "hdtrace/format/traces.h"

namespace hdtrace {

/// Calls that are alike, or visits of a region.
struct SummedCalls {
    enum class Kind : std::uint8_t {
        calls,
        region,  ///< of the program's own, under its name
        messages ///< that were sent by starting persistent requests, next to the starts themselves
    };

    Kind kind = Kind::calls;
    /// What they have in common, as it stands in traces: name, `toRank`, `fromRank`, `cid`, `fid`, `site`,
    /// `rc`, `unfinished`. `time` is when the first one began, `end` when the last one ended. Of messages:
    /// the name of the starting calls and `toRank`.
    State call;
    std::optional<std::int64_t> size; ///< what they move, from a power of two on; nothing if it is no data
    std::string regions; ///< of the program's own, in which they are, or with the region itself, as a path:
                         ///< "solve/step"
    /// There were too many kinds of calls, and of these only the name is known.
    bool is_rest = false;
    std::int64_t calls = 0;
    std::int64_t total = 0, exclusive = 0, shortest = 0, longest = 0; ///< nanoseconds
    std::int64_t sent = 0, received = 0;                              ///< bytes
    std::int64_t bytes = 0;  ///< sent and received, and those of states of the program's own
    std::int64_t posted = 0; ///< bytes that were asked for; the calls do not tell how many came
};

struct Sums {
    std::vector<SummedCalls> rows; ///< with ranks in the project
    std::string missing;           ///< what the file lacks if it was cut off, else empty
};

/// Where the sums of a thread are that has no trace; @p trace is where it would be.
std::string sums_path(const std::string& trace);
/// Whether there are sums, and no trace.
bool has_only_sums(const std::string& trace);

/// Reads them, with corrected times. Throws OpenError, ReadError.
Sums read_sums(const TraceFile& trace);
/// The same with ranks and times as they stand in the file. @p node_file_size is as in ReadOptions.
Sums read_sums(const std::string& path, std::int64_t node_file_size = 0);

/// Whoever wants single calls is told that there are none. Throws ReadError if there are only sums.
void check_has_calls(const TraceFile& trace);

} // namespace hdtrace
