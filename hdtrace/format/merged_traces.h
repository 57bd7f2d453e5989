// merged_traces.h - all traces of a project as one stream in the order of time.
//
//     const hdtrace::Project project = hdtrace::read_project("app.proj");
//     const hdtrace::Selection collectives{.classes = {hdtrace::CallClass::collective}};
//     hdtrace::MergedTraces calls(hdtrace::traces_of(project), collectives);
//     while (const hdtrace::State* state = calls.next())
//         print(calls.trace().rank, *state);
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "hdtrace/format/traces.h"

namespace hdtrace {

/// What a trace lacks that was cut off.
struct MissingEnd {
    std::string path;
    std::string what; ///< as TrcReader::missing() says it, e.g. "</Program>"

    bool operator==(const MissingEnd&) const = default;
};
/// "path: </Program> is missing"
std::string to_string(const MissingEnd& end);

/// What reading may need, if there are not very many traces.
struct ReadingLimits {
    std::size_t memory = 256 << 20; ///< of the blocks of all traces together, in bytes
    std::size_t open_files = 256;   ///< kept open: with more traces each is opened for each block
};

/// The states of many traces by the time when they began; equal times by the order of the traces (rank and
/// thread for those of traces_of()) and by position in the trace. Holds one state and one block in memory of
/// each trace that is not at its end, and few files open, however many traces there are. Traces that have a
/// reader are read by it, and nothing else changes. For one thread at a time.
class MergedTraces {
  public:
    /// Opens all traces that are selected. With less memory each is opened more often. Throws OpenError,
    /// ReadError.
    explicit MergedTraces(std::vector<TraceFile> traces, const Selection& selection = {},
                          ReadingLimits limits = {});
    ~MergedTraces();
    MergedTraces(MergedTraces&&) noexcept;
    MergedTraces& operator=(MergedTraces&&) noexcept;

    /// The next state of the top level, null behind the last one. It belongs to the stream until the next
    /// call, and may be moved from. Throws ReadError for a trace that is broken: its states before that place
    /// were handed out, and a further call goes on with the other traces.
    State* next();
    /// Whose state next() returned last.
    const TraceFile& trace() const;

    /// What the traces lack that were cut off, in the order of the traces. Known at the end.
    std::vector<MissingEnd> missing() const;
    /// The traces that have other lines than TrcReader::has_only_plain_lines() means. Known at the end.
    std::vector<std::string> with_odd_lines() const;

  private:
    struct Merging;
    std::unique_ptr<Merging> m_merging;
};

} // namespace hdtrace
