#include "hdtrace/checking/sends_during_receives.h"

namespace hdtrace {

SendsDuringReceives::SendsDuringReceives(const std::vector<SendDuringReceive>& sends, Findings& findings,
                                         CausalOrder& order)
    : m_findings(findings), m_order(order), m_sends(sends), m_moments(sends.size())
{
    for (std::size_t i = 0; i < sends.size(); ++i) {
        const CallPlace &send = sends[i].send, &receive = sends[i].receive;
        m_by_send.emplace(Key{send.rank, send.thread, send.line, -1}, i);
        m_by_receive.emplace(Key{receive.rank, receive.thread, receive.line, sends[i].receive_rid}, i);
    }
}

void SendsDuringReceives::add(const Message& message)
{
    if (m_sends.empty())
        return;
    const Moment began = m_order.began(message.source, *message.send);
    const auto set = [&](const auto& index, std::int64_t rank, const MessageEnd& end,
                         Moment Moments::*which) {
        const auto [first, last] = index.equal_range({rank, end.thread, end.line, end.rid});
        for (auto found = first; found != last; ++found)
            m_moments[found->second].*which = began;
    };
    set(m_by_send, message.source, *message.send, &Moments::send);
    set(m_by_receive, message.destination, *message.receive, &Moments::received);
}

void SendsDuringReceives::prepare()
{
    for (const Moments& moments : m_moments)
        if (moments.received.step > 0)
            m_order.keep(moments.received);
}

/// Of calls of a process at the same places the first that is wrong, if there is one.
void SendsDuringReceives::finish()
{
    using Place = std::tuple<std::int64_t, const CallSite*, const CallSite*>;
    std::map<Place, std::pair<std::size_t, bool>> told;
    for (std::size_t i = 0; i < m_sends.size(); ++i) {
        const Moments& moments = m_moments[i];
        const bool is_harmless = !m_order.is_full() && moments.send.step > 0 && moments.received.step > 0 &&
                                 m_order.is_before(moments.send, moments.received);
        const auto [found, is_new] = told.try_emplace(
            {m_sends[i].send.rank, m_sends[i].receive.site, m_sends[i].send.site}, i, is_harmless);
        if (!is_new && found->second.second && !is_harmless)
            found->second = {i, false};
    }
    for (const auto& [sites, what] : told) {
        const SendDuringReceive& send = m_sends[what.first];
        if (what.second)
            m_findings.report_as(Severity::warning, FindingKind::buffer_conflict, send.send,
                                 send.text + ", though the message for it was only sent after that",
                                 send.receive.site);
        else
            m_findings.report(FindingKind::buffer_conflict, send.send, send.text, send.receive.site);
    }
}

} // namespace hdtrace
