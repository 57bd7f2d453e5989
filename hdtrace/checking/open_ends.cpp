#include "hdtrace/checking/open_ends.h"

#include <algorithm>
#include <deque>

#include "hdtrace/calls/special_ranks.h"

namespace hdtrace {
namespace {

using Mailbox = std::pair<const Communicator*, std::int64_t>; // and the rank that receives
using SourceAndTag = std::pair<std::int64_t, std::int64_t>;

std::int64_t value_or(const Element& element, const AttributeName& name, std::int64_t otherwise)
{
    return element.integer(name).value_or(otherwise);
}

} // namespace

void OpenEnds::add_rest(const Message& message)
{
    const auto open = [&](const MessageEnd& end) {
        return OpenEnd{message.communicator, message.source, message.destination, message.tag, end};
    };
    if (message.send && !message.receive)
        m_sends.push_back(open(*message.send));
    if (message.receive && !message.send)
        m_receives.push_back(open(*message.receive));
}

void OpenEnds::add_in_progress(const TraceFile& trace, const State& call, const CallFacts& facts)
{
    const Communicator* communicator = m_objects.communicator(trace.rank, call);
    const bool found_nothing = call.has("flag"); // of a probe: what it asked for is called otherwise
    const std::int64_t to = value_or(call, "toRank", proc_null);
    const std::int64_t from = value_or(call, found_nothing ? "source" : "fromRank", proc_null);
    const std::int64_t tag = value_or(call, found_nothing ? "tag" : "fromTag", any_tag);
    const bool receives = facts.receives == ReceiveKind::posted || facts.probes != ProbeKind::none;
    MessageEnd end{.thread = trace.thread,
                   .time = call.time,
                   .end = call.end,
                   .line = call.line,
                   .size = value_or(call, "size", 0),
                   .rid = OpenEnd::in_progress,
                   .site = m_objects.call_site(trace.rank, call),
                   .tid = value_or(call, "tid", -1),
                   .count = value_or(call, "count", -1)};
    if (facts.sends != SendMode::none && to >= 0)
        m_sends.push_back({communicator, trace.rank, to, value_or(call, "toTag", any_tag), end});
    if (!receives || (from < 0 && from != any_rank))
        return;
    if (call.find("recvtid")) {
        end.tid = value_or(call, "recvtid", -1);
        end.count = value_or(call, "recvCount", -1);
    }
    m_receives.push_back({communicator, from, trace.rank, tag, end});
}

void OpenEnds::match()
{
    const auto time = [](const OpenEnd& open) { return open.end.time; };
    std::ranges::stable_sort(m_sends, {}, time);
    std::ranges::stable_sort(m_receives, {}, time);
    using Channel = std::deque<std::size_t>; // positions of sends
    std::map<Mailbox, std::map<SourceAndTag, Channel>> mailboxes;
    for (std::size_t i = 0; i < m_sends.size(); ++i) {
        const OpenEnd& send = m_sends[i];
        mailboxes[{send.communicator, send.destination}][{send.source, send.tag}].push_back(i);
    }
    for (OpenEnd& receive : m_receives) {
        const auto mailbox = mailboxes.find({receive.communicator, receive.destination});
        if (mailbox == mailboxes.end())
            continue;
        auto& channels = mailbox->second;
        auto first = channels.end();
        if (receive.source != any_rank && receive.tag != any_tag)
            first = channels.find({receive.source, receive.tag});
        else
            for (auto channel = channels.begin(); channel != channels.end(); ++channel)
                if (fits(receive.source, channel->first.first) && fits(receive.tag, channel->first.second) &&
                    (first == channels.end() || channel->second.front() < first->second.front()))
                    first = channel;
        if (first == channels.end())
            continue;
        OpenEnd& send = m_sends[first->second.front()];
        send.other = &receive;
        receive.other = &send;
        first->second.pop_front();
        if (first->second.empty())
            channels.erase(first);
    }
    index();
}

void OpenEnds::index()
{
    for (const OpenEnd& send : m_sends)
        m_send_of.try_emplace({send.source, send.end.rid}, &send);
    for (const OpenEnd& receive : m_receives)
        m_receive_of.try_emplace({receive.destination, receive.end.rid}, &receive);
}

const OpenEnd* OpenEnds::find(const Index& index, std::int64_t rank, std::int64_t rid)
{
    const auto found = index.find({rank, rid});
    return found == index.end() ? nullptr : found->second;
}

} // namespace hdtrace
