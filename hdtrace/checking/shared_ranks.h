// shared_ranks.h - ranks that many processes wait for.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <set>
#include <utility>

#include "hdtrace/format/proj_reader.h"

namespace hdtrace {

/// Ranks that many processes may wait for: copies share them.
class SharedRanks {
  public:
    using Ranks = std::set<std::int64_t>;

    SharedRanks() : SharedRanks(Ranks()) {}
    SharedRanks(Ranks ranks) : m_ranks(std::make_shared<const Ranks>(std::move(ranks))) {}
    SharedRanks(std::initializer_list<std::int64_t> ranks) : SharedRanks(Ranks(ranks)) {}

    const Ranks& operator*() const { return *m_ranks; }
    const Ranks* operator->() const { return m_ranks.get(); }

  private:
    std::shared_ptr<const Ranks> m_ranks;
};

/// The members of a communicator that are so.
template <class IsSo> SharedRanks::Ranks members_that(const Communicator& communicator, IsSo is_so)
{
    SharedRanks::Ranks ranks;
    for (const Communicator::Member& member : communicator.members)
        if (is_so(member))
            ranks.insert(member.global);
    return ranks;
}

} // namespace hdtrace
