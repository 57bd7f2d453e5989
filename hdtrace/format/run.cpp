#include "hdtrace/format/run.h"

namespace hdtrace {

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
