// What one process wrote into its .info files, as typed records.
#pragma once

#include "merger/datatypes.h"
#include "merger/rank_map.h"
#include "merger/report.h"
#include "merger/run_facts.h"
#include "merger/source_places.h"
#include "merger/trace_name.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hdtrace::merger {

/// What the labels of traces mean.
struct Levels {
    std::vector<std::string> names = mpi_levels;
    bool has_ranks = true; ///< false for programs that do not use MPI

    bool operator==(const Levels&) const = default;
};

/// The `Process` line; older traces have none.
struct ProcessLine {
    Place place;
    std::string base; ///< the true name of the program
    std::string host;
    std::optional<std::int64_t> rank;
    std::optional<std::int64_t> size;
    std::string world; ///< uid of MPI_COMM_WORLD
    std::string run;   ///< the launcher's name of it; empty if unknown
    Levels levels;
    std::int64_t time_adjustment = 0; ///< nanoseconds since the epoch
};

struct FileRecord {
    Place place;
    std::string name;
    std::int64_t size = -1;           ///< -1 if it is not known
    std::optional<std::int64_t> time; ///< nanoseconds since the epoch
    std::string inode;                ///< host, device and inode; empty if unknown
    std::string host;                 ///< the only one that can see it; empty if others may
};

/// Of what several processes share.
struct SharedRecord {
    Place place;
    std::string name;
    bool named_by_program = false;
    std::string uid; ///< empty in older traces, and where the processes cannot know one
};

/// Which side of an inter-communicator between worlds a process is on.
enum class Side {
    unknown,
    first,
    second,
    own, ///< the one after which the uid is named
};

/// How the two sides of such a communicator came to know each other, if they have different uids for it.
struct Meeting {
    enum class Kind { none, accepts, connects, leaders };
    Kind kind = Kind::none;
    std::string where; ///< the port, or what both leaders call it
};

struct CommunicatorRecord : SharedRecord {
    RankMap map;
    bool is_inter = false;
    RankMap remote; ///< the other side of an inter-communicator
    Side side = Side::unknown;
    Meeting meeting;
    bool is_world = false;

    bool has_foreign() const { return !map.foreign().empty() || !remote.foreign().empty(); }
};

struct WindowRecord : SharedRecord {
    std::int64_t communicator = 0; ///< its id
    std::int64_t size = 0;         ///< of this process's part, in bytes
    std::int64_t displacement_unit = 0;
};

/// An object file from which MPI was called.
struct ObjectFileRecord {
    Place place;
    std::string path;
    std::string build_id; ///< hexadecimal; empty if it has none
};

/// A line of a Python program from which MPI was called.
struct SourceLineRecord {
    Place place;
    SourcePlace where;
};

/// A return address, or a line of a Python program.
struct SiteFrame {
    static constexpr std::int64_t no_object = -1;   ///< code that the program made
    static constexpr std::int64_t source_line = -2; ///< a line of a Python program

    bool is_in_object() const { return object >= 0; }

    std::int64_t object = no_object; ///< the object file
    /// In the file as it is linked; the address itself in none; of a line its number.
    std::int64_t offset = 0;

    bool operator==(const SiteFrame&) const = default;
};

/// Where the program called MPI.
struct CallSiteRecord {
    Place place;
    std::vector<SiteFrame> frames; ///< the innermost first
};

/// What a thread told when its trace was closed.
struct TraceEnd {
    Place place;
    std::int64_t thread = 0;
    std::optional<std::int64_t> states; ///< that it had written
    std::int64_t lost_states = 0;
    std::int64_t refused_calls = 0; ///< of the trace library, which its caller got wrong
};

/// All objects of one process by id.
struct ProcessInfo {
    std::vector<std::string> paths;
    std::optional<ProcessLine> process;
    std::vector<std::int64_t> threads; ///< of `Thread` lines
    std::map<std::int64_t, FileRecord> files;
    std::map<std::int64_t, CommunicatorRecord> communicators;
    std::vector<std::int64_t> communicator_order; ///< ids in the order of their creation
    std::map<std::int64_t, WindowRecord> windows;
    DatatypeTable datatypes;
    std::map<std::int64_t, ObjectFileRecord> object_files;
    std::map<std::int64_t, SourceLineRecord> source_lines;
    std::map<std::int64_t, CallSiteRecord> call_sites; ///< of described object files and lines only
    std::vector<TraceEnd> ends;
    std::int64_t lost_lines = 0; ///< of the files, which could not be written for some time
    ProcessRun run;
};

/// Adds what @p path holds, which has to stay where it is while places are in use; a process may have several
/// files. Warns about what it ignores. Throws OpenError and ReadError, also if an object is described in two
/// ways.
void read_info(std::string_view path, ProcessInfo& info, Report& report);

} // namespace hdtrace::merger
