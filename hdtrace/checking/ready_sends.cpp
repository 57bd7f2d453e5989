#include "hdtrace/checking/ready_sends.h"

#include <tuple>

#include "hdtrace/analysis/call_text.h"

namespace hdtrace {

ReadySends::ReadySends(Findings& findings, CausalOrder& order) : m_findings(findings), m_order(order)
{
    for (const TraceFile& trace : findings.project().traces)
        m_hosts.try_emplace(trace.rank, host_of(findings.project().project, trace.labels));
}

void ReadySends::add(const Message& message)
{
    const MessageEnd &send = *message.send, &receive = *message.receive;
    if (!send.is_ready)
        return;
    const bool is_one_clock = m_hosts[message.source] == m_hosts[message.destination];
    m_sends.push_back({m_order.began(message.source, send),
                       m_order.began(message.destination, receive),
                       {message.source, send.thread, send.line, send.site},
                       {message.destination, receive.thread, receive.line, receive.site},
                       is_one_clock && receive.time > send.time});
}

void ReadySends::prepare()
{
    for (const ReadySend& one : m_sends)
        m_order.keep(one.send);
}

/// Of calls of a process at the same places the first that is wrong for certain, or else the first one.
void ReadySends::finish()
{
    using Place = std::tuple<std::int64_t, const CallSite*, const CallSite*>;
    std::map<Place, const ReadySend*> told;
    const bool has_threads = !m_findings.project().ranks_with_threads().empty();
    const auto is_by_chance = [&](const ReadySend& one) {
        return !has_threads && one.send.step > 0 && one.receive.step > 0 &&
               !m_order.is_before(one.receive, one.send);
    };
    for (const ReadySend& one : m_sends) {
        if (!one.is_seen && !is_by_chance(one))
            continue;
        const ReadySend*& first =
            told.try_emplace({one.sender.rank, one.sender.site, one.receiver.site}, &one).first->second;
        if (one.is_seen && !first->is_seen)
            first = &one;
    }
    for (const auto& [place, one] : told) {
        const std::string text = "the ready send" + at(one->sender.site) +
                                 " began before the receive of rank " + std::to_string(one->receiver.rank) +
                                 at(one->receiver.site);
        const std::string by_chance = "nothing makes the ready send" + at(one->sender.site) +
                                      " come after the receive of rank " +
                                      std::to_string(one->receiver.rank) + at(one->receiver.site);
        if (one->is_seen)
            m_findings.report(FindingKind::ready_send_early, one->sender, text, one->receiver.site);
        else
            m_findings.report_as(Severity::warning, FindingKind::ready_send_early, one->sender, by_chance,
                                 one->receiver.site);
    }
}

} // namespace hdtrace
