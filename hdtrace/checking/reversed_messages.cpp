#include "hdtrace/checking/reversed_messages.h"

#include <algorithm>

#include "hdtrace/format/nanoseconds.h"

namespace hdtrace {

ReversedMessages::ReversedMessages(Findings& findings) : m_findings(findings)
{
    const Project& project = findings.project().project;
    if (project.clocks.empty())
        return;
    for (const TraceFile& trace : findings.project().traces)
        m_hosts.try_emplace(trace.rank, host_of(project, trace.labels));
}

void ReversedMessages::add(const Message& message)
{
    const std::int64_t sent = message.send->time, received = message.receive->end;
    if (m_hosts.empty() || !message.receive->end_is_known || received >= sent)
        return;
    const MessageEnd& receive = *message.receive;
    Between& between =
        m_between_hosts
            .try_emplace({m_hosts[message.source], m_hosts[message.destination]},
                         Between{{message.destination, receive.thread, receive.line, receive.site}})
            .first->second;
    ++between.count;
    between.most = std::max(between.most, sent - received);
}

void ReversedMessages::report()
{
    for (const auto& [hosts, between] : m_between_hosts) {
        const bool is_one = between.count == 1;
        m_findings.report(FindingKind::reversed_message, between.first,
                          std::to_string(between.count) + (is_one ? " message" : " messages") + " from " +
                              hosts.first + " to " + hosts.second + (is_one ? " seems" : " seem") +
                              " to be received before being sent, by up to " + seconds_text(between.most) +
                              " s");
    }
}

} // namespace hdtrace
