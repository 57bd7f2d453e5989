#include "hdtrace/matching/one_sided_rules.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hdtrace/calls/calls.h"
#include "hdtrace/format/left_out.h"
#include "hdtrace/settings/patterns.h"

namespace hdtrace {
namespace {

bool is_of_messages(const CallFacts& facts)
{
    return facts.sends != SendMode::none || facts.receives != ReceiveKind::none ||
           facts.probes == ProbeKind::takes || facts.progress == CallProgress::activates;
}

bool is_of_collectives(const CallFacts& facts)
{
    return facts.members != CollectiveMembers::none || facts.progress == CallProgress::activates;
}

bool is_about(const RunFact& rule, const CallFacts& facts)
{
    const std::string call = rule.fact.text("call"), call_class = rule.fact.text("class");
    return (call.empty() || fits_one_function(call.c_str(), ("MPI_" + std::string(facts.name)).c_str())) &&
           (call_class.empty() ||
            fits_one(call_class.c_str(), std::string(class_name(facts.call_class)).c_str()));
}

bool has_any(const RunFact& rule, std::initializer_list<AttributeName> conditions)
{
    return std::ranges::any_of(conditions, [&](const AttributeName& name) { return rule.fact.has(name); });
}

bool is_for_all_processes(const RunFact& rule, std::int64_t process_count)
{
    std::int64_t count = 0;
    for (const RunFact::Ranks& ranks : rule.ranks)
        count += ranks.last - ranks.first + 1;
    return count >= process_count && !has_any(rule, {"rank", "host"});
}

class Rules {
  public:
    explicit Rules(const Project& project) : m_project(project)
    {
        for (const RunFact& fact : project.run.facts) {
            if (fact.fact.name == "Rule")
                m_rules.push_back(&fact);
            else if (fact.fact.name == "Calls")
                m_ignored[facts_of(fact.fact.text("name")).name] += fact.fact.integer("ignored").value_or(0);
        }
        m_counts_are_known = is_told_by_all(project.run, "Calls", project.process_count);
    }

    bool are_one_sided_for_messages() const
    {
        return are_one_sided(is_of_messages, [](const RunFact& rule, bool is_about_all) {
            // The room of a receive is not what was sent, and it may ask for a message from anybody.
            return !is_about_all || has_any(rule, {"peer", "size", "occurrence"});
        });
    }

    bool are_one_sided_for_collectives() const
    {
        return are_one_sided(is_of_collectives, [this](const RunFact& rule, bool is_about_all) {
            return has_any(rule, {"size", "occurrence"}) ||
                   (!is_about_all && !is_for_all_processes(rule, m_project.process_count));
        });
    }

  private:
    using Functions = std::vector<const CallFacts*>;

    /// Whether rules by which calls of such functions are left out tell them apart, also one that takes some
    /// of what the others leave out.
    bool are_one_sided(bool (*is_concerned)(const CallFacts&),
                       const std::function<bool(const RunFact&, bool is_about_all)>& is_one_sided) const
    {
        Functions concerned;
        for (const CallFacts& facts : all_calls())
            if (is_concerned(facts) && is_called(facts))
                concerned.push_back(&facts);
        const auto loses_calls = [&](const CallFacts* facts) { return m_ignored.at(facts->name) > 0; };
        if (m_counts_are_known && std::ranges::none_of(concerned, loses_calls))
            return false;
        bool leaves_out = false, tells_apart = false;
        for (const RunFact* const rule : m_rules) {
            const auto count = std::ranges::count_if(
                concerned, [&](const CallFacts* facts) { return is_about(*rule, *facts); });
            if (count == 0)
                continue;
            leaves_out = leaves_out || leaves_out_deeds(*rule);
            tells_apart = tells_apart || is_one_sided(*rule, count == std::ssize(concerned));
        }
        return leaves_out && tells_apart;
    }

    bool is_called(const CallFacts& facts) const
    {
        return !m_counts_are_known || m_ignored.contains(facts.name);
    }

    const Project& m_project;
    std::vector<const RunFact*> m_rules;
    std::map<std::string_view, std::int64_t> m_ignored; ///< also those of which none are
    bool m_counts_are_known = false;
};

} // namespace

OneSidedRules one_sided_rules(const Project& project)
{
    const Rules rules(project);
    return {rules.are_one_sided_for_messages(), rules.are_one_sided_for_collectives()};
}

} // namespace hdtrace
