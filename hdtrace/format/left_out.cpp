#include "hdtrace/format/left_out.h"

#include <algorithm>
#include <ranges>

#include "hdtrace/calls/calls.h"
#include "hdtrace/format/nanoseconds.h"
#include "hdtrace/matching/one_sided_rules.h"
#include "hdtrace/matching/saturated.h"

namespace hdtrace {
namespace {

constexpr std::size_t most_names = 3;

// What it does by itself: of polls that found nothing only some are recorded.
bool is_for_check(const RunFact& setting)
{
    return setting.fact.name == "Setting" && setting.fact.find("name") == "HDTRACE_FOR_CHECK" &&
           setting.fact.find("value") == "1";
}

// The first ones of many.
std::string ranks_text(const RunFact& fact)
{
    std::string text;
    for (const RunFact::Ranks& ranks : fact.ranks | std::views::take(most_names)) {
        text += (text.empty() ? "" : ",") + std::to_string(ranks.first);
        if (ranks.last != ranks.first)
            text += ".." + std::to_string(ranks.last);
    }
    return text + (fact.ranks.size() > most_names ? ",..." : "");
}

std::int64_t process_count(const RunFact& fact)
{
    std::int64_t count = 0;
    for (const RunFact::Ranks& ranks : fact.ranks)
        count += ranks.last - ranks.first + 1;
    return count;
}

std::string with_commas(std::uint64_t number)
{
    std::string text = std::to_string(number);
    for (std::size_t i = text.size(); i > 3; i -= 3)
        text.insert(i - 3, ",");
    return text;
}

} // namespace

bool leaves_out_deeds(const RunFact& rule)
{
    const auto record = rule.fact.find("record");
    return !record || (*record != "all" && *record != "success");
}

LeftOut::LeftOut(const Project& project) : m_one_sided(one_sided_rules(project))
{
    bool has_rules = false, thins_polls = false;
    bool only_empty_polls = true;
    for (const RunFact& fact : project.run.facts) {
        thins_polls = thins_polls || is_for_check(fact);
        if (fact.fact.name != "Rule")
            continue;
        has_rules = true;
        only_empty_polls = only_empty_polls && !leaves_out_deeds(fact);
    }
    for (const RunFact& fact : project.run.facts) {
        if (fact.fact.name == "Calls")
            add(fact, (has_rules || thins_polls) && only_empty_polls);
        else if (fact.fact.name == "Bound")
            add_bound(fact);
        else if (fact.fact.name == "Part")
            add_part(fact);
        else if (fact.fact.name == "Origin")
            add_origin(fact);
        else
            add_end(fact);
    }
    add_missing_processes(project);
    m_is_for_check = thins_polls && !has_rules;
    m_is_unsure = has_rules && !is_told_by_all(project.run, "Calls", project.process_count);
    m_lacks_others = m_lacks_others || m_bounds.size() > m_kept_last || (m_is_unsure && !only_empty_polls);
}

void LeftOut::add(const RunFact& calls, bool only_empty_polls)
{
    const std::string name = calls.fact.text("name");
    const CallFacts& facts = facts_of(name);
    const std::int64_t count = calls.fact.integer("ignored").value_or(0);
    if (count <= 0 || facts.call_class == CallClass::query || facts.progress == CallProgress::query)
        return;
    m_lacks_others = m_lacks_others || !only_empty_polls || !facts.polls;
    const std::int64_t processes = process_count(calls);
    m_counts[name] += static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(processes);
    const auto time = calls.fact.find("ignoredTime");
    m_time = saturated_sum(m_time, saturated_product(processes, time ? parse_time(*time).value_or(0) : 0));
}

void LeftOut::add_bound(const RunFact& bound)
{
    const auto name = bound.fact.find("name");
    const auto value = bound.fact.find("value");
    if (!name || !value)
        return;
    const std::int64_t count = process_count(bound);
    const std::string processes = std::to_string(count) + (count == 1 ? " process" : " processes");
    m_has_lost_lines = m_has_lost_lines || *name == "lost-lines";
    if (*name == "limit")
        m_bounds.push_back("the recording of " + processes +
                           " ended when the traces had the size that is the limit, " + std::string(*value) +
                           " bytes");
    else if (*name == "keep-last") {
        m_bounds.push_back("of " + processes + " only the last " + std::string(*value) +
                           " are kept, so that nothing but the end tells which calls belong together");
        ++m_kept_last;
    } else if (*name == "lost-lines")
        m_bounds.push_back(processes + " could not write " + std::string(*value) + " lines" +
                           (count == 1 ? "" : " each") +
                           " of what describes objects: what calls name may be unknown");
    else if (*name == "lost-states")
        m_bounds.push_back(processes + " lost " + std::string(*value) + " states" +
                           (count == 1 ? "" : " each") +
                           " while tracing: they could not be written, as when the disk is full");
}

void LeftOut::add_missing_processes(const Project& project)
{
    const std::int64_t traced = std::ssize(project.run.processes);
    if (traced > 0 && traced < project.process_count)
        m_bounds.push_back("there are files of " + std::to_string(traced) + " of " +
                           std::to_string(project.process_count) + " processes only");
}

// What the others did not do because of that is true.
void LeftOut::add_end(const RunFact& end)
{
    const bool is_running = end.fact.name == "Running";
    if (!is_running && end.fact.name != "SuddenEnd")
        return;
    const std::int64_t count = process_count(end);
    const std::string which = std::string(count == 1 ? "rank " : "ranks ") + ranks_text(end);
    m_ends.push_back(is_running ? which + (count == 1 ? " was" : " were") +
                                      " running when the project was made: later calls are not in it"
                                : which + " ended suddenly: the last calls may be missing");
}

void LeftOut::add_part(const RunFact& part)
{
    const auto what = part.fact.find("selected");
    m_bounds.push_back("this is a part of a project" + (what ? ": " + std::string(*what) : ""));
}

void LeftOut::add_origin(const RunFact& origin)
{
    const auto lacks = origin.fact.find("lacks");
    if (!lacks)
        return;
    const auto creator = origin.fact.find("creator");
    m_bounds.push_back((creator ? std::string(*creator) : "what this was imported from") +
                       " did not record " + std::string(*lacks));
}

std::int64_t left_out_poll_time(const State& call)
{
    static constexpr AttributeName name("pollTime");
    const auto text = call.find(name);
    return text ? parse_time(*text).value_or(0) : 0;
}

std::string LeftOut::text() const
{
    std::string text;
    for (const auto* parts : {&m_bounds, &m_ends})
        for (const std::string& part : *parts)
            text += (text.empty() ? "" : "; ") + part;
    for (const std::string& part : {calls_text(), apart_text()})
        text += (text.empty() || part.empty() ? "" : "; ") + part;
    return text;
}

std::string LeftOut::apart_text() const
{
    if (!m_one_sided.of_messages && !m_one_sided.of_collectives)
        return "";
    const char* const what = !m_one_sided.of_collectives ? "sends and receives"
                             : !m_one_sided.of_messages  ? "collective calls"
                                                         : "sends and receives, and collective calls,";
    return std::string("the rules leave out some of what belongs together, so ") + what +
           " are not put together";
}

std::string LeftOut::calls_text() const
{
    if (m_counts.empty())
        return m_is_unsure ? "rules may have left out calls of processes that did not end properly" : "";
    std::vector<std::pair<std::uint64_t, std::string>> functions;
    std::uint64_t sum = 0;
    for (const auto& [name, count] : m_counts) {
        functions.emplace_back(count, name);
        sum += count;
    }
    std::ranges::sort(functions, std::ranges::greater());
    const bool are_polls = m_is_for_check && !has_deeds();
    std::string text = with_commas(sum) + (sum == 1 ? " call" : " calls") +
                       (are_polls ? " that found nothing" : "") + (sum == 1 ? " is" : " are") +
                       " left out, as " + (are_polls ? "--check does: " : "was asked for: ");
    for (std::size_t i = 0; i < std::min(functions.size(), most_names); ++i)
        text += (i > 0 ? ", " : "") + functions[i].second + " (" + with_commas(functions[i].first) + ")";
    if (functions.size() > most_names)
        text += " and " + std::to_string(functions.size() - most_names) + " more functions";
    if (are_polls && m_time > 0)
        text += ", which took " + seconds_text(m_time) + " seconds";
    return text + (m_is_unsure ? "; processes that did not end properly did not tell theirs" : "");
}

} // namespace hdtrace
