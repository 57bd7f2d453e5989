// nearest_pairs.h - which pairs of accesses have to be compared to find all places that nothing orders.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "hdtrace/checking/causal_order.h"
#include "hdtrace/format/proj_reader.h"

namespace hdtrace {

/// Of the conflicting accesses of two processes at two call sites only those pairs of which each is the
/// other's nearest: no other one of the same process and site comes between them. If any two are not ordered,
/// such a pair is not either: what is behind an access is behind all that its process did before, and what is
/// before one is before all that its process does later. So the pairs grow with the accesses, not with their
/// square.
class NearestPairs {
  public:
    /// An access, by its number in the order of their times.
    struct Access {
        std::size_t number = 0;
        std::int64_t rank = 0;
        const CallSite* site = nullptr;
        Moment done; ///< step 0: never
    };

    /// Two that conflict. @p detail is told again.
    void add(const Access& earlier, const Access& later, std::int64_t detail)
    {
        const auto [behind, is_first] = m_behind.try_emplace({earlier.number, later.rank, later.site},
                                                             Behind{later.number, detail, earlier});
        if (!is_first && later.number < behind->second.number)
            behind->second = {later.number, detail, earlier};
        const Before candidate{latest(earlier.done), earlier.number};
        const auto [before, is_only] =
            m_before.try_emplace({later.number, earlier.rank, earlier.site}, candidate);
        if (!is_only && before->second < candidate)
            before->second = candidate;
    }

    /// use(earlier, later, detail), by their numbers.
    template <typename Use> void for_each(Use use) const
    {
        for (const auto& [key, behind] : m_behind) {
            const Access& earlier = behind.earlier;
            if (m_before.at({behind.number, earlier.rank, earlier.site}).second == earlier.number)
                use(earlier.number, behind.number, behind.detail);
        }
    }

  private:
    using Key = std::tuple<std::size_t, std::int64_t, const CallSite*>; ///< the access, and whose others
    struct Behind {
        std::size_t number;
        std::int64_t detail;
        Access earlier;
    };
    using Before = std::pair<std::uint32_t, std::size_t>; ///< when it was done, and which

    static std::uint32_t latest(const Moment& done)
    {
        return done.step > 0 ? done.step : std::numeric_limits<std::uint32_t>::max();
    }

    std::map<Key, Behind> m_behind;
    std::map<Key, Before> m_before;
};

} // namespace hdtrace
