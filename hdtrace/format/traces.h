// traces.h - which traces a project has, and what of them is wanted.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hdtrace/calls/calls.h"
#include "hdtrace/format/host_clock.h"
#include "hdtrace/format/proj_reader.h"
#include "hdtrace/format/project_ranks.h"
#include "hdtrace/format/trc_reader.h"

namespace hdtrace {

/// The trace of one thread.
struct TraceFile {
    std::string path;
    /// In the project: in MPI_COMM_WORLD, if there is one world; -1 where the program's levels are not those
    /// of MPI.
    std::int64_t rank = -1;
    std::int64_t thread = 0;
    std::vector<std::string> labels; ///< its path in the project's topology, e.g. node01, 0, 0
    /// What the ranks in it mean; null if they are those in the project.
    std::shared_ptr<const ProjectRanks> ranks = nullptr;
    /// What has to be added to the times in it; null if nothing has to be.
    std::shared_ptr<const HostClock> clock = nullptr;
    /// Which other process MergedTraces lets read it; null: it is read here.
    std::shared_ptr<RemoteReader> reader = nullptr;
    /// The time that those in it count from; nothing if the project does not tell.
    std::optional<std::int64_t> began = std::nullopt;
    /// How large the node file that it is in was when the project was made; 0 if the project does not tell.
    std::int64_t node_file_size = 0;
};

/// The traces of a project, by rank and thread; those without ranks in the order of the project. Whether they
/// exist is not checked.
std::vector<TraceFile> traces_of(const Project& project);

/// On which host a trace was recorded; empty if the project's levels do not tell.
std::string host_of(const Project& project, const std::vector<std::string>& labels);

/// The last signal that seems to have ended a process; null if there was none, or if the project is a part of
/// a run that ended before. It may be long behind the last call.
const FatalSignal* latest_signal(const Project& project);

/// Nanoseconds since the epoch; both ends belong to it.
struct TimeInterval {
    std::int64_t begin = std::numeric_limits<std::int64_t>::min();
    std::int64_t end = std::numeric_limits<std::int64_t>::max();

    /// Whether what happens at that moment counts in it. Of intervals that follow each other it is one: here
    /// the end does not belong to it.
    bool counts(std::int64_t moment) const
    {
        return moment >= begin && (moment < end || end == std::numeric_limits<std::int64_t>::max());
    }
};

/// From when on states of a trace have to be read for those in the interval, by the clock that it was
/// recorded with.
std::int64_t recorded_begin(const TraceFile& trace, TimeInterval interval);

/// Which time a project is of that was made of a part of another one (`Part` in its `Run`).
TimeInterval part_in(const Project& project);

/// What is to be read: all that fits everything that is given. What is empty selects all. A plain value: it
/// may be copied and read by any thread.
struct Selection {
    std::vector<std::int64_t> ranks;
    std::vector<std::int64_t> threads;
    /// States of the top level that have one of these names or classes; what is nested in them comes with
    /// them.
    std::vector<std::string> calls;
    std::vector<CallClass> classes;
    /// States that are at least partly in it.
    TimeInterval interval;
    /// Whether states are handed out in which their process ended. They have no attributes, so most users can
    /// do nothing with them. What is nested in them is skipped with them.
    bool unfinished = false;
    /// Whether events of the program's own come with whatever names and classes are selected, which tell the
    /// regions that calls are in.
    bool events = false;

    /// Whether anything of this trace may be wanted.
    bool wants(const TraceFile& trace) const;
    /// Whether this state of the top level is wanted.
    bool wants(const State& state) const;
};

/// One trace, as far as it is selected. In bounded memory; for one thread at a time.
class TraceStream {
  public:
    /// Opens the trace. Throws OpenError, and ReadError if it is none or that of another thread or run.
    TraceStream(TraceFile trace, Selection selection, const ReadOptions& options = {});

    /// Reads the next state or event of the top level, with ranks in the project and corrected times; @p
    /// state's memory is used again. False behind the last one. Throws ReadError for what is not a trace, and
    /// the same again if it is called again.
    bool next(State& state);

    const TraceFile& trace() const { return m_trace; }
    /// What a trace that was cut off lacks, e.g. "</Program>". Empty if it lacks nothing, or before its end
    /// was seen, which an interval may prevent.
    const std::string& missing() const { return m_reader.missing(); }
    /// As TrcReader has it.
    bool has_only_plain_lines() const { return m_reader.has_only_plain_lines(); }

  private:
    TraceFile m_trace;
    Selection m_selection;
    TrcReader m_reader;
    std::optional<TimeCorrection> m_correction;
    bool m_at_end = false;
};

} // namespace hdtrace
