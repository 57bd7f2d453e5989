#include "hdtrace/checking/findings.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "hdtrace/analysis/call_text.h"

namespace hdtrace {

CallPlace place_of(const ObjectTable& objects, const Call& call)
{
    return {call.trace.rank, call.trace.thread, call.state.line,
            SiteOfCall(objects, call.trace.rank, call.state.integer("site").value_or(-1))};
}

CallPlace place_of(const ObjectTable& objects, const Operation& operation)
{
    return {operation.rank, operation.thread, operation.line,
            SiteOfCall(objects, operation.rank, operation.site)};
}

void Findings::report(FindingKind kind, const CallPlace& place, std::string text, const CallSite* other_site,
                      std::string because)
{
    m_findings.push_back({.kind = kind,
                          .severity = facts_of(kind).severity,
                          .rank = place.rank,
                          .file = m_project.path_of(place.rank, place.thread),
                          .line = place.line,
                          .text = std::move(text),
                          .because = std::move(because),
                          .site = place.site,
                          .other_site = other_site,
                          .waiting = {}});
}

void Findings::report_deadlock(Severity severity, const CallPlace& place, std::string text,
                               std::vector<WaitingProcess> waiting)
{
    report_as(severity, FindingKind::deadlock, place, std::move(text));
    m_findings.back().waiting = std::move(waiting);
}

void Findings::report_as(Severity severity, FindingKind kind, const CallPlace& place, std::string text,
                         const CallSite* other_site)
{
    report(kind, place, std::move(text), other_site);
    m_findings.back().severity = severity;
}

void Findings::report_file(FindingKind kind, std::int64_t rank, const std::string& file, std::int64_t line,
                           std::string text, const CallSite* site)
{
    m_findings.push_back({.kind = kind,
                          .severity = facts_of(kind).severity,
                          .rank = rank,
                          .file = file,
                          .line = line,
                          .text = std::move(text),
                          .because = {},
                          .site = site,
                          .waiting = {}});
}

void Findings::add(std::vector<Finding> findings)
{
    std::ranges::move(findings, std::back_inserter(m_findings));
}

std::vector<Finding> Findings::take()
{
    return std::exchange(m_findings, {});
}

std::string text_of(const std::vector<StartedOperation>& operations)
{
    constexpr std::size_t most_shown = 4;
    std::string text;
    for (std::size_t i = 0; i < std::min(operations.size(), most_shown); ++i)
        text += (i == 0 ? " of " : ", ") + operations[i].call + at(operations[i].site);
    return operations.size() > most_shown
               ? text + " and " + std::to_string(operations.size() - most_shown) + " more"
               : text;
}

std::string text_of(const OpenedProject& project, const CollectiveObject& object)
{
    if (object.file)
        return object.file->name;
    return (object.window ? "a window of " : "") + project.label_of(*object.communicator);
}

std::string file_and_line(const OpenedProject& project, const CallPlace& place)
{
    return project.path_of(place.rank, place.thread) + ":" + std::to_string(place.line);
}

} // namespace hdtrace
