// window_epochs.h - who needs whom for accesses to windows: between start and complete, post and wait, in
// locks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "hdtrace/explaining/history.h"
#include "hdtrace/format/objects.h"
#include "hdtrace/matching/beginnings.h"
#include "hdtrace/matching/events.h"

namespace hdtrace {

/// Memory grows with the epochs.
class WindowEpochs {
  public:
    /// Both must outlive it; all calls must be told to @p beginnings.
    WindowEpochs(const ObjectTable& objects, const Beginnings& beginnings)
        : m_objects(objects), m_beginnings(beginnings)
    {
    }

    /// A call that has ended; of any kind.
    void add(const Call& call, StepId step);
    /// Once the history has all calls, with times that can be compared.
    void add_needs(History& history) const;

  private:
    using Member = std::pair<const Window*, std::int64_t>;                // and its rank
    using Access = std::tuple<const Window*, std::int64_t, std::int64_t>; // of an origin to a target
    struct Calls {
        /// The n-th of each belong together, if first ones are missing the n-th from the end.
        std::vector<StepId> starts, completes, posts, waits;
    };
    struct Lock {
        StepId lock;
        /// The first call behind it that may wait for it, since libraries may let Win_lock return before: one
        /// that completes accesses, or that which gives it up.
        std::optional<StepId> next = {};
        std::optional<StepId> unlock = {};
        bool is_exclusive = false;
    };
    using LockPointers = std::vector<const Lock*>;

    void add_lock(const Call& call, const Window* window, StepId step);
    void add_unlock(const Call& call, const Window* window, StepId step);
    void add_flush(const Call& call, const Window* window, StepId step);
    Calls from_same_epoch(const Access& access, const Calls& calls, const History& history) const;
    static void add_needs_of(const Calls& calls, History& history);
    static void add_needs_of(const std::vector<Lock>& locks, History& history);
    static const Lock* held_before(const Lock& lock, StepId waiting, const LockPointers& given_up,
                                   const History& history);

    const ObjectTable& m_objects;
    const Beginnings& m_beginnings;
    std::map<Access, Calls> m_calls;
    std::map<Member, std::vector<std::int64_t>> m_targets; ///< of the access epoch that an origin is in
    std::map<Member, std::vector<std::int64_t>> m_origins; ///< of the exposure epoch that a target is in
    std::map<Member, std::vector<Lock>> m_locks;           ///< of a target, as they were locked
    std::map<Access, std::size_t> m_held;                  ///< positions in these
};

} // namespace hdtrace
