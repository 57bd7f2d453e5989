// waiting_epochs.h - for whom calls on windows wait that have not ended: who holds a lock, and who has not
// begun or ended its part of an epoch (MPI 4.1, 12.5.2 and 12.5.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "hdtrace/checking/wait_graph.h"
#include "hdtrace/format/objects.h"
#include "hdtrace/matching/events.h"

namespace hdtrace {

/// Memory grows with the epochs that are open, and with the pairs of processes that had some with each other.
class WaitingEpochs {
  public:
    /// @p objects must outlive it.
    explicit WaitingEpochs(const ObjectTable& objects) : m_objects(objects) {}

    /// Any call; of those that have not ended it is known that they began.
    void add(const Call& call);
    /// What has to happen before this call of @p rank, which was added and has not ended, can end. What is
    /// not known for certain is taken as fulfilled.
    Wait wait_of(std::int64_t rank, const State& unfinished, const CallFacts& facts) const;

  private:
    using Member = std::pair<const Window*, std::int64_t>;                // and its rank
    using Access = std::tuple<const Window*, std::int64_t, std::int64_t>; // of an origin to a target
    struct Lock {
        bool is_exclusive = false;
        bool is_had = false;       ///< for certain: libraries may let Win_lock return before
        bool has_accesses = false; ///< that use it
    };
    struct Epochs {
        std::set<std::int64_t> locked;           ///< targets
        std::set<std::int64_t> targets, origins; ///< of the access and the exposure epoch for groups
    };
    /// How often an origin and a target did each.
    struct Counts {
        std::size_t starts = 0, completes = 0, posts = 0;
    };

    void access(const Call& call, const Window& window);
    void synchronise(const Call& call, const Window& window, Epochs& epochs);
    void flush(std::int64_t rank, const Window& window, std::int64_t target);
    Lock* lock_of(std::int64_t rank, const Window& window, std::int64_t target);
    void begin(const Call& call, const Window& window, Epochs& epochs);
    Counts counts_of(const Window& window, std::int64_t origin, std::int64_t target) const;
    std::set<std::int64_t> holders_before(const Member& waiting, const State& lock) const;
    std::set<std::int64_t> certain_holders_before(const Member& waiting, std::int64_t target) const;
    std::set<std::int64_t> without_post(const Member& origin) const;
    std::set<std::int64_t> without_complete(const Member& target) const;

    const ObjectTable& m_objects;
    std::map<Member, Epochs> m_epochs;
    std::map<Member, std::map<std::int64_t, Lock>> m_locks; ///< by the target, and who has locked it
    std::map<const Window*, std::set<std::int64_t>> m_have_locked_all; ///< of the window, which is shared
    std::map<Access, Counts> m_counts;
};

} // namespace hdtrace
