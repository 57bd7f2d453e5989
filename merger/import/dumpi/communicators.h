// Which communicators a run had. Each process has numbers of its own for them, so they are found by what all
// members did: the calls that make communicators, in the order in which they were made on each one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "merger/import/dumpi/bin_reader.h"

namespace hdtrace::importer::dumpi {

/// Of processes, by their ranks in MPI_COMM_WORLD.
using Ranks = std::vector<std::int64_t>;

/// A communicator as the run had it.
struct RunCommunicator {
    std::string uid = {};
    Ranks members = {};    ///< in the order of their ranks
    Ranks others = {};     ///< the second group of an inter-communicator
    Ranks dimensions = {}; ///< of a Cartesian topology

    /// The group of a process, and the one that it talks to.
    const Ranks& group_of(std::int64_t rank) const;
    const Ranks& peers_of(std::int64_t rank) const;
};

/// What one process called its communicators and groups at some moment. It is shown all of its records in
/// their order: before() tells what a record is about, after() also what it makes.
class ProcessNames {
  public:
    static constexpr std::size_t unknown = static_cast<std::size_t>(-1);

    ProcessNames();
    void before(const Record& record);
    void after(const Record& record);

    /// Which of the process's communicators a number is, in the order in which it met them.
    std::size_t communicator(std::int64_t number) const;
    /// The same of its groups.
    std::size_t group(std::int64_t number) const;
    /// The communicator that a window or a file was made on.
    std::size_t communicator_of(const Record& record) const;
    std::size_t communicator_count() const { return m_communicator_count; }

  private:
    std::unordered_map<std::int64_t, std::size_t> m_communicators;
    std::unordered_map<std::int64_t, std::size_t> m_groups;
    std::unordered_map<std::int64_t, std::size_t> m_windows, m_files; ///< by numbers the communicators
    std::size_t m_communicator_count = 2;                             ///< the world, and itself
    std::size_t m_group_count = 0;
};

class RunCommunicators {
  public:
    explicit RunCommunicators(std::int64_t processes);

    /// All records of a process, in their order.
    void begin_process(std::int64_t rank);
    void see(const Record& record);
    /// After those of all processes.
    void find_all();

    /// Null if nobody knows who its members are. @p communicator: as ProcessNames has it.
    RunCommunicator* find(std::int64_t rank, std::size_t communicator);
    /// The members of a group, by their order; nothing if nobody knows.
    std::optional<Ranks> group(std::int64_t rank, std::size_t group);

  private:
    /// A call that makes a communicator.
    struct Making {
        std::string_view function;
        std::size_t made = ProcessNames::unknown;
        std::int64_t color = 0, key = 0;
        std::size_t group = ProcessNames::unknown;
        Ranks dimensions = {};
        std::int64_t local_leader = 0, remote_leader = 0, tag = 0;
        std::size_t peer = ProcessNames::unknown;
    };
    /// How a process made a group.
    struct GroupMaking {
        std::string_view function;
        std::size_t first = ProcessNames::unknown,
                    second = ProcessNames::unknown; ///< groups, or a communicator
        Ranks ranks = {};
        std::vector<Ranks> ranges = {};
    };
    struct Process {
        ProcessNames names;
        std::map<std::size_t, std::vector<Making>> makings; ///< by the communicator that they are called on
        std::vector<GroupMaking> groups;
        std::vector<std::size_t> found; ///< by communicators the one of the run
    };
    /// Where a rank is in the group that MPI_Comm_create was given.
    struct GroupPlace {
        std::int64_t first; ///< the group's first rank, by which groups differ
        std::int64_t place;
    };
    /// A call of all members of a communicator.
    struct Side {
        std::size_t parent;
        std::size_t turn; ///< the how many-th that makes a communicator
    };

    void see_group(Process& process, const Record& record);
    void make_on(std::size_t parent);
    bool make(std::size_t parent, std::size_t turn);
    const Making* making(std::int64_t rank, std::size_t parent, std::size_t turn) const;
    void merge(const RunCommunicator& old, const Making& first, const Making& last, const Side& where);
    void divide(const RunCommunicator& old, const std::vector<const Making*>& calls, const Side& where);
    std::map<std::int64_t, GroupPlace> places_in_groups(const RunCommunicator& old,
                                                        const std::vector<const Making*>& calls);
    void add(RunCommunicator made, const std::vector<Side>& sides);
    bool join_sides();
    std::optional<std::int64_t> leader(const Side& side) const;
    std::optional<std::int64_t> remote_leader(const Side& side) const;
    std::optional<Ranks> group(std::int64_t rank, std::size_t number, int depth);

    std::vector<Process> m_processes;
    Process* m_process = nullptr;
    std::deque<RunCommunicator> m_found;                      // whose places stay
    std::vector<std::map<std::int64_t, std::size_t>> m_local; ///< of each one the members' own names
    std::vector<Side> m_sides; ///< of inter-communicators whose other side is not known yet
    /// Those whose leaders are known: the own one, the other one, and the tag.
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::deque<Side>> m_waiting;
    std::vector<std::size_t> m_new;
};

} // namespace hdtrace::importer::dumpi
