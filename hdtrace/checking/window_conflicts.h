// window_conflicts.h - one-sided accesses to the same memory that nothing orders.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hdtrace/checking/byte_ranges.h"
#include "hdtrace/checking/causal_order.h"
#include "hdtrace/checking/findings.h"
#include "hdtrace/matching/type_map.h"

namespace hdtrace {

class WindowConflicts : public EventVisitor {
  public:
    /// Both must outlive it.
    WindowConflicts(Findings& findings, CausalOrder& order)
        : m_findings(findings), m_order(order), m_types(findings.objects())
    {
    }

    /// Accesses and what completes them: before the order hears of it.
    void enter(const Call& call) override;
    void completed(const Call& call, const Completion& completion) override;

    /// Tells the order what it will be asked.
    void prepare();
    void finish();

  private:
    /// The range is in the target's part.
    struct Access : ByteRange {
        WindowAccess kind{};
        std::string op;
        Moment issued;
        Moment done; ///< step 0: never
        bool is_exclusive = false;
        bool waits_for_exposure = false; ///< it happens when the epoch ends, whatever the order of calls
        std::int64_t rid = -1;
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
        const Access* one;
        const Access* other;
        const Window* window;
        std::int64_t target;
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

    void access(const Call& call, const Window& window, std::int64_t target);
    void set_range(const Call& call, const Window& window, std::int64_t target, Access& access);
    void synchronise(const Call& call, const Window& window);
    void expose(const Call& call, const Window& window, Epochs& epochs);
    void complete(std::int64_t rank, const Window& window, std::int64_t target, bool ends_epoch);
    static bool are_alike(const Access& one, const Access& other);
    static bool conflict(const Access& one, const Access& other);
    void add_pairs(const Target& target, std::vector<Access>& accesses);

    Findings& m_findings;
    CausalOrder& m_order;
    TypeMaps m_types;
    std::map<Target, std::vector<Access>> m_accesses;
    std::map<std::pair<const Window*, std::int64_t>, Epochs> m_epochs;                     ///< by origin
    std::map<std::tuple<const Window*, std::int64_t, std::int64_t>, Exposure> m_exposures; ///< origin, target
    std::vector<Pair> m_pairs;
    std::size_t m_compared = 0; ///< pairs
};

} // namespace hdtrace
