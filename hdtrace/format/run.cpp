#include "hdtrace/format/run.h"

#include <algorithm>

namespace hdtrace {

bool is_told(const Run& run, std::string_view kind)
{
    return std::ranges::any_of(run.facts, [&](const RunFact& fact) { return fact.fact.name == kind; });
}

bool is_told_by_all(const Run& run, std::string_view kind, std::uint64_t process_count)
{
    std::vector<RunFact::Ranks> ranks;
    for (const RunFact& fact : run.facts)
        if (fact.fact.name == kind)
            ranks.insert(ranks.end(), fact.ranks.begin(), fact.ranks.end());
    std::ranges::sort(ranks, {}, &RunFact::Ranks::first);
    std::int64_t next = 0;
    for (const RunFact::Ranks& range : ranks)
        if (range.first <= next)
            next = std::max(next, range.last + 1);
    return static_cast<std::uint64_t>(next) >= process_count;
}

FactsByName::FactsByName(const Run& run, std::string_view kind)
{
    for (const RunFact& fact : run.facts) {
        if (fact.fact.name == kind && fact.fact.has("name"))
            m_facts.try_emplace(fact.fact.text("name"), &fact.fact);
    }
}

const Element* FactsByName::find(std::string_view name) const
{
    const auto found = m_facts.find(name);
    return found == m_facts.end() ? nullptr : found->second;
}

} // namespace hdtrace
