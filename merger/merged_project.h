// A program's run as its project describes it: all processes and the objects that they share.
#pragma once

#include "hdtrace/format/host_clock.h"
#include "merger/call_sites.h"
#include "merger/communicators.h"
#include "merger/datatypes.h"
#include "merger/files.h"
#include "merger/inputs.h"
#include "merger/report.h"
#include "merger/run_facts.h"
#include "merger/united_worlds.h"
#include "merger/windows.h"
#include "merger/worlds.h"

#include <cstdint>
#include <string>
#include <vector>

namespace hdtrace::merger {

struct MergedProcess {
    std::int64_t rank = 0; ///< in the project; of programs without ranks: counted in the order of the names
    TraceName name;        ///< the labels without the last one
    std::vector<std::string> threads; ///< the last labels, in their order
    std::vector<std::string> infos;   ///< paths; empty if they are missing
    std::vector<TraceEnd> ends;
    bool lacks_objects = false; ///< lines of its files were lost
    ProcessDatatypes datatypes;
    std::vector<std::int64_t> communicator_ids; ///< ascending
    std::vector<std::int64_t> file_ids;         ///< ascending
    std::vector<std::int64_t> window_ids;       ///< ascending

    std::string trace_path(const std::string& thread) const;
    /// The number of the first thread; 0 if the last level is not numbered.
    std::int64_t first_thread() const { return label_number(threads.front()).value_or(0); }
};

/// A few bytes can tell of many processes.
inline constexpr std::int64_t most_undescribed_members = 1'000'000;

struct MergedProject {
    std::string name; ///< true name of the program
    std::int64_t process_count = 0;
    Levels levels;
    std::vector<MergedProcess> processes; ///< in the order of the ranks
    std::vector<World> worlds;            ///< in the order of their ranks
    std::vector<ForeignRanks> foreign;    ///< in the order of the ranks
    std::vector<MergedFile> files;
    std::vector<MergedCommunicator> communicators;
    std::vector<MergedWindow> windows;
    MergedCallSites call_sites;
    MergedRun run;
    std::vector<HostClock> clocks; ///< if there are several hosts, and they were compared
    DatatypePool datatypes;        ///< owns what the processes refer to

    bool has_worlds() const { return worlds.size() > 1; }
    /// How many members of communicators and windows are known only from what others say.
    std::int64_t undescribed_members() const;
};

class InputReader;

/// Reads the .info files one after the other and unifies what they describe. @p inputs are sorted by_world()
/// and have to live as long as @p report is used. Where the report has errors, the project is not complete.
MergedProject unify(const std::vector<InfoInput>& inputs, InputReader& reader, Report& report);

} // namespace hdtrace::merger
