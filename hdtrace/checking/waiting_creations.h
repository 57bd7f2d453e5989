// waiting_creations.h - for whom calls that make a communicator wait, beyond the members of the one that they
// make it of: the members of a group (MPI 4.1, 7.4.2), and the other side (7.6.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "hdtrace/checking/shared_ranks.h"
#include "hdtrace/format/objects.h"
#include "hdtrace/matching/events.h"

namespace hdtrace {

/// Counts how often the members of each group made something of it, such as by MPI_Comm_create_group.
/// Memory grows with the groups and their members.
class GroupMeetings {
  public:
    /// @p objects must outlive it.
    explicit GroupMeetings(const ObjectTable& objects) : m_objects(objects) {}

    /// Any call; of those that have not ended it is known that they began.
    void add(const Call& call);
    /// Who of the group has not begun what this call of @p rank is, which was added and has not ended. What
    /// is not known for certain is taken as begun. No process has the number @p process_count. Once all calls
    /// were added.
    SharedRanks missing(std::int64_t rank, const State& unfinished, std::int64_t process_count);

  private:
    /// Calls of one meeting say the same.
    struct Meeting {
        const Communicator* parent; ///< null: there is none
        std::string tag, group;

        auto operator<=>(const Meeting&) const = default;
    };

    std::optional<Meeting> meeting_of(std::int64_t rank, const State& call) const;

    const ObjectTable& m_objects;
    std::map<Meeting, std::map<std::int64_t, std::size_t>> m_calls;   ///< by rank
    std::map<std::pair<Meeting, std::size_t>, SharedRanks> m_missing; ///< in which one of the meetings
};

/// Counts how often processes called MPI_Intercomm_create as the leaders of their sides.
class LeaderMeetings {
  public:
    /// What a leader asks another one for.
    struct Meeting {
        const Communicator* peer; ///< of which both are members
        std::int64_t own = -1, other = -1;
        std::int64_t tag = 0;

        Meeting mirrored() const { return {peer, other, own, tag}; }
        auto operator<=>(const Meeting&) const = default;
    };

    /// @p objects must outlive it.
    explicit LeaderMeetings(const ObjectTable& objects) : m_objects(objects) {}

    /// Nothing of a call that no leader makes.
    std::optional<Meeting> meeting_of(std::int64_t rank, const State& call) const;
    /// Any call; of those that have not ended it is known that they began.
    void add(const Call& call);
    /// Whether the other one has begun its part of the last one of these.
    bool has_other(const Meeting& meeting) const;

  private:
    std::size_t calls_of(const Meeting& meeting) const;

    const ObjectTable& m_objects;
    std::map<Meeting, std::size_t> m_calls;
};

} // namespace hdtrace
