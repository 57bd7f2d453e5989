// proj_reader.h - reads a .proj: the objects of all processes of a run.
//
// Both our form and those of the original tools are read. Values that such a form lacks are empty.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hdtrace/format/call_site.h"
#include "hdtrace/format/element.h"
#include "hdtrace/format/errors.h"
#include "hdtrace/format/host_clock.h"
#include "hdtrace/format/remote_reader.h"
#include "hdtrace/format/run.h"

namespace hdtrace {

/// A file that the program used.
struct ProjectFile {
    /// By which id a process knows the file in its traces.
    struct Rank {
        std::int64_t global = 0;
        std::int64_t thread = 0;
        std::int64_t fid = 0;
    };

    std::string name;
    std::optional<std::int64_t> initial_size; ///< bytes, before the run
    std::optional<std::int64_t> from;         ///< the rank that saw the size
    std::string distribution_class;
    std::string chunk_size; ///< as written, e.g. "64K"
    std::vector<Rank> ranks;
};

namespace detail {

/// That of a process, if it stands at its rank, as where all are members in the order of their ranks.
template <class Member>
const Member* member_at_its_rank(const std::vector<Member>& members, std::int64_t global)
{
    const auto place = static_cast<std::size_t>(global);
    const bool stands_there = global >= 0 && place < members.size() && members[place].global == global;
    return stands_there ? &members[place] : nullptr;
}

/// That of a process, wherever it stands.
template <class Member> const Member* member_of(const std::vector<Member>& members, std::int64_t global)
{
    if (const Member* const member = member_at_its_rank(members, global))
        return member;
    const auto found = std::ranges::find(members, global, &Member::global);
    return found == members.end() ? nullptr : &*found;
}

} // namespace detail

struct Communicator {
    struct Member {
        std::int64_t global = 0;           ///< rank in the project: in MPI_COMM_WORLD, if there is one world
        std::int64_t local = 0;            ///< rank in this communicator
        std::optional<std::int64_t> cid;   ///< the id in the process's traces, if these name it
        std::optional<std::int64_t> group; ///< 0 or 1: the side of an inter-communicator
    };

    std::string name;
    std::string uid;
    std::vector<Member> members;
    /// Members of another MPI_COMM_WORLD of which the project has no trace; of an inter-communicator those of
    /// its group 0, and those of its group 1.
    std::int64_t untraced = 0, untraced_remote = 0;

    std::int64_t size() const { return std::ssize(members) + untraced + untraced_remote; }
    bool is_traced() const { return size() == std::ssize(members); }
    /// Whether it is an inter-communicator: all its members are in one of its groups.
    bool is_inter() const { return !members.empty() && members.front().group.has_value(); }
    /// Null if the process is none.
    const Member* member(std::int64_t global) const { return detail::member_of(members, global); }
};

/// A window for one-sided communication.
struct Window {
    struct Member {
        std::int64_t global = 0;               ///< rank in MPI_COMM_WORLD
        std::int64_t local = 0;                ///< rank in the window's group
        std::optional<std::int64_t> wid;       ///< the id in the process's traces, if it described the window
        std::optional<std::int64_t> size;      ///< bytes of its part, likewise
        std::optional<std::int64_t> disp_unit; ///< bytes that a displacement counts in, likewise
    };

    std::string name;
    std::string uid;
    std::string communicator; ///< the uid of the communicator on which it was made
    std::vector<Member> members;

    /// Null if the process is none.
    const Member* member(std::int64_t global) const { return detail::member_of(members, global); }
};

struct Datatype {
    std::int64_t id = 0;
    std::string combiner;      ///< "VECTOR" for MPI_COMBINER_VECTOR
    AttributeList attributes;  ///< all of them, with id and name
    std::vector<Element> rows; ///< `Type`, `Dimension`, ...; those of indexed types: for_each_blocks()
};

/// The datatypes of one process, components before their users.
struct RankDatatypes {
    std::int64_t rank = 0;
    std::int64_t thread = 0;
    std::vector<Datatype> types;
};

/// How processes number the call sites in their traces.
struct SiteIds {
    /// Ids from `id` on are positions in Project::call_sites from `site` on.
    struct Run {
        std::int64_t id = 0;
        std::int64_t site = 0;
        std::int64_t count = 0;
    };
    struct Ranks {
        std::int64_t first = 0;
        std::int64_t last = 0;
    };

    std::vector<Run> runs; ///< in the order of the ids
    std::vector<Ranks> ranks;
};

/// Where the traces of some processes are.
struct ProcessFiles {
    std::string directory;  ///< relative to the project's, or absolute
    std::string base;       ///< what their names begin with
    std::int64_t first = 0; ///< rank in the project
    std::int64_t last = 0;
};

/// Processes with an MPI_COMM_WORLD of their own, where a program has several: some have spawned others.
struct World {
    std::string uid;
    std::int64_t first = 0; ///< rank in the project of its rank 0
    std::int64_t size = 0;
};

/// Which ranks in the project the numbers in some processes' traces stand for that are less than
/// `other_world`.
struct ForeignRanks {
    /// Numbers from `number` on stand for the ranks from `rank` on.
    struct Run {
        std::int64_t number = 0;
        std::int64_t rank = 0;
        std::int64_t count = 0;
    };

    std::vector<Run> runs;  ///< in the order of the numbers
    std::int64_t first = 0; ///< of the processes, by rank in the project
    std::int64_t last = 0;
};

struct Project {
    std::string path;
    std::string name;
    std::int64_t process_count = 0;
    std::string description;
    std::vector<ProjectFile> files;
    std::vector<std::string> levels; ///< e.g. Hostname, Rank, Thread
    std::vector<std::vector<std::string>>
        leaves; ///< for each trace the labels on its path, e.g. node01, 0, 0
    std::vector<Communicator> communicators;
    std::vector<Window> windows;
    std::vector<RankDatatypes> datatypes;
    std::vector<CallSite> call_sites;
    std::vector<SiteIds> site_ids;
    std::vector<World> worlds; ///< in the order of their ranks; none if all processes are of one
    std::vector<ForeignRanks> foreign_ranks;
    /// Of the hosts, if they were compared. Times in `run` are corrected, and so are those of all readers of
    /// the project's traces.
    std::vector<HostClock> clocks;
    std::vector<ProcessFiles> trace_files; ///< in the order of their ranks; none if the names tell
    Run run;
    /// Other processes that read the traces for this one; none: it reads them itself.
    std::vector<std::shared_ptr<RemoteReader>> readers;

    /// Where the traces of the leaves are: as trace_files says; without it beside the project, named after
    /// its file, or else after the program.
    std::vector<std::string> trace_paths() const;
};

/// Reads a project. Throws OpenError, ReadError. May be called by any thread.
Project read_project(const std::string& path);
/// Likewise, of a text in memory. @p path is for messages, and the traces are beside it.
Project read_project_text(const std::string& path, std::string_view text);

} // namespace hdtrace
