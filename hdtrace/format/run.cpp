#include "hdtrace/format/run.h"

namespace hdtrace {

FactsByName::FactsByName(const Run& run, std::string_view kind)
{
    for (const RunFact& fact : run.facts) {
        const std::string* const name = fact.fact.name == kind ? fact.fact.find("name") : nullptr;
        if (name)
            m_facts.try_emplace(*name, &fact.fact);
    }
}

const Element* FactsByName::find(const std::string& name) const
{
    const auto found = m_facts.find(name);
    return found == m_facts.end() ? nullptr : found->second;
}

} // namespace hdtrace
