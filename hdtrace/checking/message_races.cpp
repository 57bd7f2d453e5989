#include "hdtrace/checking/message_races.h"

#include <algorithm>
#include <set>
#include <string>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/checking/open_ends.h"

namespace hdtrace {
namespace {

constexpr std::int64_t any = -1;
constexpr std::size_t most_candidates = 200'000;
/// Of one source; those behind them are hardly ever the first that fits.
constexpr std::size_t most_messages_ahead = 8;

/// What a receive or probe asked for; of one that blocks the plain attribute is what it got.
std::int64_t asked(const Element& call, const AttributeName& posted, const AttributeName& plain)
{
    return call.integer(posted).value_or(call.integer(plain).value_or(any));
}

} // namespace

void MessageRaces::started(const Call&, const Operation& operation)
{
    if (operation.facts->receives == ReceiveKind::posted &&
        asked(*operation.call, "postedRank", "fromRank") == any)
        m_any_source[{operation.rank, operation.thread, operation.line, operation.rid}] =
            asked(*operation.call, "postedTag", "fromTag");
}

void MessageRaces::leave(const Call& call)
{
    const auto source = call.state.integer("fromRank");
    if (call.facts.probes == ProbeKind::none || call.is_inside_call || call.has_failed() ||
        call.state.is_unfinished() || call.state.integer("source") != any || !source || *source < 0)
        return;
    const Communicator* communicator = m_findings.objects().communicator(call.trace.rank, call.state);
    const Moment now = m_order.step(call.trace.rank);
    m_mailboxes[{communicator, call.trace.rank}].takers.push_back(
        {now, m_order.step(call.trace.rank), call.state.integer("tag").value_or(any), *source,
         place_of(m_findings.objects(), call)});
}

void MessageRaces::add(const Message& message)
{
    if (!message.send)
        return;
    Messages& messages = m_mailboxes[{message.communicator, message.destination}];
    Sent sent{m_order.began(message.source, *message.send),
              message.tag,
              {},
              {message.source, message.send->thread, message.send->line, message.send->site}};
    if (message.receive) {
        const MessageEnd& receive = *message.receive;
        sent.taken = m_order.began(message.destination, receive);
        const auto taker =
            m_any_source.find({message.destination, receive.thread, receive.line, receive.rid});
        if (taker != m_any_source.end()) {
            messages.takers.push_back({sent.taken,
                                       m_order.ended(message.destination, receive),
                                       taker->second,
                                       message.source,
                                       {message.destination, receive.thread, receive.line, receive.site}});
            m_any_source.erase(taker);
        }
    }
    if (sent.begin.step > 0)
        messages.sent[message.source].push_back(sent);
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
                if (!is_taken(*one) && fits(taker.tag, one->tag) && m_candidates.size() < most_candidates) {
                    m_candidates.push_back({&taker, &*one, source});
                    break;
                }
            }
        }
    }
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
    std::set<std::pair<std::int64_t, const CallSite*>> told;
    for (const auto& [taker, sent, source] : m_candidates) {
        if (m_order.is_before(taker->end, sent->begin) ||
            !told.insert({taker->place.rank, taker->place.site}).second)
            continue;
        m_findings.report(FindingKind::message_race, taker->place,
                          "from any source" + at(taker->place.site) + " got the message of rank " +
                              std::to_string(taker->source) + ", but could have got that of rank " +
                              std::to_string(source) + ", sent" + at(sent->place.site),
                          sent->place.site);
    }
}

} // namespace hdtrace
