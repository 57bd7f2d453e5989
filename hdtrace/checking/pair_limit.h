// pair_limit.h - how many pairs of accesses are kept to be compared.
#pragma once

#include <cstddef>
#include <map>
#include <utility>

#include "hdtrace/format/proj_reader.h"

namespace hdtrace {

/// Of all, and of each two call sites: so that others are found as well where a program accesses in order
/// what it has accessed before.
class PairLimit {
  public:
    /// False if there is no room for a pair of these sites.
    bool add(const CallSite* one, const CallSite* other)
    {
        std::size_t& of_sites = m_counts[{one, other}];
        if (is_reached() || of_sites == most_of_two_sites)
            return false;
        ++m_count;
        ++of_sites;
        return true;
    }
    bool is_reached() const { return m_count == most; }

  private:
    static constexpr std::size_t most = 200'000, most_of_two_sites = 20'000;

    std::size_t m_count = 0;
    std::map<std::pair<const CallSite*, const CallSite*>, std::size_t> m_counts;
};

} // namespace hdtrace
