// window_conflicts.h - one-sided accesses to the same memory that nothing orders.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hdtrace/checking/byte_ranges.h"
#include "hdtrace/checking/call_buffers.h"
#include "hdtrace/checking/causal_order.h"
#include "hdtrace/checking/findings.h"
#include "hdtrace/checking/pair_limit.h"
#include "hdtrace/checking/type_signature.h"

namespace hdtrace {

/// With what HDTRACE_FOR_CHECK adds to the traces also those of other calls that use memory of a window.
class WindowConflicts : public EventVisitor {
  public:
    /// Both must outlive it.
    WindowConflicts(Findings& findings, CausalOrder& order)
        : m_findings(findings), m_order(order), m_buffers(findings.objects()),
          m_signatures(findings.objects())
    {
    }

    /// Accesses and what completes them: before the order hears of it.
    void enter(const Call& call) override;
    void completed(const Call& call, const Completion& completion) override;
    /// Behind what the order has heard.
    void leave(const Call& call) override;

    /// Tells the order what it will be asked.
    void prepare();
    void finish();

  private:
    /// The range is in the target's part.
    struct Access : ByteRange {
        WindowAccess kind{};
        std::string op;
        std::int64_t element = 0; ///< bytes of each; 0 if they differ or are not known
        Moment issued;
        Moment done;            ///< step 0: never
        bool is_locked = false; ///< its origin has locked the target's part
        bool is_exclusive = false;
        bool waits_for_exposure = false; ///< it happens when the epoch ends, whatever the order of calls
        std::int64_t rid = -1;
        std::int64_t time = 0; ///< when the call began
        std::string name;
        CallPlace place;
    };
    /// What an origin and a target say to each other with Win_post, Win_start, Win_complete and Win_wait,
    /// each time.
    struct Exposure {
        std::vector<Moment> posted;
        std::vector<Moment> begun;
        std::vector<Moment> ended;
        std::vector<Moment> waited;
    };
    using Target = std::pair<const Window*, std::int64_t>;
    struct Pair {
        const Access* one; ///< the earlier one, as clocks say
        const Access* other;
        const Window* window;
        std::int64_t target;
    };
    /// When a process issued atomic accesses, of any memory.
    struct Atomics {
        std::optional<Moment> first_fetch; ///< it might find what others have changed
        Moment last;
    };
    /// Where an access goes and comes from: target, first byte, byte behind the last, call site.
    using Route = std::tuple<std::int64_t, std::int64_t, std::int64_t, const CallSite*>;
    /// What an origin has begun on a window.
    struct Epochs {
        std::map<std::int64_t, bool> locked;            ///< by target: exclusively?
        std::vector<std::int64_t> started;              ///< the targets of an epoch for a group
        std::vector<std::int64_t> posted;               ///< the origins of an exposure epoch
        bool has_started = false;                       ///< for a group
        std::map<Route, std::vector<std::size_t>> open; ///< accesses: places in the list of the target
    };

    /// Memory of a process that is part of a window.
    struct OwnMemory {
        const Window* window;
        ByteRange range;
        std::int64_t origin; ///< the address that places in the window are counted from
    };
    /// Of a call of the target itself, other than a one-sided one. It happens between `access.done`, when the
    /// call began, and `access.issued`, when what it does was complete: others that come before the one or
    /// behind the other are ordered with it.
    struct LocalAccess {
        Target target;
        Access access;
    };
    /// The first and the last one that differ only in their moments.
    struct FirstAndLast {
        std::size_t first;
        std::size_t last;
    };

    void learn_memory(const Call& call);
    void access_locally(const Call& call);
    LocalAccess local_access(const Call& call, const OwnMemory& memory, const CallBuffer& buffer);
    void add_local(LocalAccess local, Moment issued);
    void access(const Call& call, const Window& window, std::int64_t target);
    void follow_atomic(const Call& call);
    void set_range(const Call& call, const Window& window, std::int64_t target, Access& access);
    void synchronise(const Call& call, const Window& window);
    void expose(const Call& call, const Window& window, Epochs& epochs);
    void complete_gets(std::int64_t rank, const Window& window, std::int64_t target);
    void complete(std::int64_t rank, const Window& window, std::int64_t target, bool ends_epoch);
    void set_lock(const Window& window, std::int64_t target, Access& access);
    static bool are_alike(const Access& one, const Access& other);
    std::int64_t element_of(std::int64_t rank, std::int64_t type);
    static bool conflict(const Access& one, const Access& other);
    void add_pairs(const Target& target, std::vector<Access>& accesses);
    void add_pair(const Pair& pair);
    static std::pair<const Access*, const Access*> sorted(const Pair& pair);
    bool are_ordered(const Pair& pair) const;
    bool may_be_ordered_by_atomics(const Pair& pair) const;
    void report(const Pair& pair, Severity severity);

    Findings& m_findings;
    CausalOrder& m_order;
    CallBuffers m_buffers;
    TypeSignatures m_signatures;
    std::map<std::int64_t, std::vector<OwnMemory>> m_memory; ///< by rank
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<LocalAccess>>
        m_in_call; ///< of the call that a thread of a rank is in
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<LocalAccess>> m_in_flight; ///< by rank, rid
    std::map<std::tuple<Target, bool, bool, bool, Route>, FirstAndLast> m_local; ///< likewise what and how
    std::map<Target, std::vector<Access>> m_accesses;
    /// Those that get, by rank and rid: places in the list of the target.
    std::map<std::pair<std::int64_t, std::int64_t>, std::pair<Target, std::size_t>> m_with_request;
    std::map<std::pair<const Window*, std::int64_t>, Epochs> m_epochs;                     ///< by origin
    std::map<std::tuple<const Window*, std::int64_t, std::int64_t>, Exposure> m_exposures; ///< origin, target
    std::map<std::int64_t, Atomics> m_atomics;                                             ///< by rank
    std::vector<Pair> m_pairs;
    PairLimit m_limit;
    std::size_t m_compared = 0; ///< pairs
};

} // namespace hdtrace
