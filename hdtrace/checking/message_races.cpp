#include "hdtrace/checking/message_races.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/checking/open_ends.h"

namespace hdtrace {
namespace {

constexpr std::int64_t any = -1;
constexpr std::size_t most_candidates = 200'000;
/// Of one source; those behind them are hardly ever the first that fits.
constexpr std::size_t most_messages_ahead = 8;

} // namespace

void MessageRaces::leave(const Call& call)
{
    const auto source = call.state.integer("fromRank");
    if (call.facts.probes == ProbeKind::none || call.is_inside_call || call.has_failed() ||
        call.state.is_unfinished() || call.state.integer("source") != any || !source || *source < 0)
        return;
    const Communicator* communicator = m_findings.objects().communicator(call.trace.rank, call.state);
    const Moment now = m_order.step(call.trace.rank);
    Messages& messages = m_mailboxes[{communicator, call.trace.rank}];
    messages.probed.try_emplace(*source, now);
    messages.takers.push_back({now, m_order.step(call.trace.rank), call.state.integer("tag").value_or(any),
                               *source, call.state.integer("fromTag").value_or(any),
                               place_of(m_findings.objects(), call)});
}

void MessageRaces::add(const Message& message)
{
    if (!message.send)
        return;
    Messages& messages = m_mailboxes[{message.communicator, message.destination}];
    Sent sent{.begin = m_order.began(message.source, *message.send),
              .tag = message.tag,
              .taken = {},
              .place = {message.source, message.send->thread, message.send->line, message.send->site}};
    if (message.receive) {
        const MessageEnd& receive = *message.receive;
        sent.taken = m_order.began(message.destination, receive);
        sent.asked_source = receive.asked_source;
        sent.asked_tag = receive.asked_tag;
        if (receive.is_posted && receive.asked_source == any)
            messages.takers.push_back({sent.taken,
                                       m_order.ended(message.destination, receive),
                                       receive.asked_tag,
                                       message.source,
                                       message.tag,
                                       {message.destination, receive.thread, receive.line, receive.site}});
    }
    if (sent.begin.step > 0)
        messages.sent[message.source].push_back(sent);
}

/// Whether the receive that got @p other of @p source could have got the taker's message in its place.
bool MessageRaces::Messages::could_have_got(const Sent& other, std::int64_t source, const Taker& taker) const
{
    const auto first_probe = probed.find(source);
    const bool was_probed = first_probe != probed.end() && first_probe->second.step <= other.taken.step;
    return other.taken.step > 0 &&
           (was_probed || (fits(other.asked_source, taker.source) && fits(other.asked_tag, taker.got_tag)));
}

/// Messages that had not been taken when a receive began, and that it could get.
void MessageRaces::add_candidates(Messages& messages)
{
    std::ranges::sort(messages.takers, {}, &Taker::begin);
    for (auto& [source, sent] : messages.sent) {
        std::ranges::sort(sent, {}, &Sent::begin);
        auto first = sent.begin();
        for (const Taker& taker : messages.takers) {
            const auto is_taken = [&](const Sent& one) {
                return one.taken.step > 0 && one.taken.step < taker.begin.step;
            };
            first = std::find_if_not(first, sent.end(), is_taken);
            if (source == taker.source)
                continue;
            std::size_t ahead = 0;
            for (auto one = first; one != sent.end() && ahead < most_messages_ahead; ++one, ++ahead) {
                if (!is_taken(*one) && fits(taker.tag, one->tag)) {
                    if (m_candidates.size() == most_candidates)
                        return set_incomplete();
                    m_candidates.push_back(
                        {&taker, &*one, source, messages.could_have_got(*one, source, taker)});
                    break;
                }
            }
        }
    }
}

void MessageRaces::set_incomplete()
{
    m_findings.set_incomplete(FindingKind::message_race);
    m_findings.set_incomplete(FindingKind::message_order);
}

void MessageRaces::prepare()
{
    for (auto& [mailbox, messages] : m_mailboxes)
        if (!messages.takers.empty())
            add_candidates(messages);
    for (const Candidate& candidate : m_candidates)
        m_order.keep(candidate.sent->begin);
}

void MessageRaces::finish()
{
    std::set<std::tuple<bool, std::int64_t, const CallSite*>> told;
    for (const auto& [taker, sent, source, is_only_order] : m_candidates) {
        if (m_order.is_before(taker->end, sent->begin) ||
            !told.insert({is_only_order, taker->place.rank, taker->place.site}).second)
            continue;
        m_findings.report(is_only_order ? FindingKind::message_order : FindingKind::message_race,
                          taker->place,
                          "from any source" + at(taker->place.site) + " got the message of rank " +
                              std::to_string(taker->source) + ", but could have got that of rank " +
                              std::to_string(source) + ", sent" + at(sent->place.site),
                          sent->place.site);
    }
}

} // namespace hdtrace
