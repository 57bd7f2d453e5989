#include "merger/export/tit/message_counts.h"

#include <initializer_list>
#include <optional>

#include "hdtrace/calls/special_ranks.h"

namespace hdtrace::exporter {
namespace {

/// What a receive got where anything was welcome, else what it asked for. Nothing if the trace does not tell,
/// or tells two things.
std::optional<std::int64_t> told(const Element& posted, const Element& got, const AttributeName& name,
                                 std::int64_t any)
{
    const std::int64_t asked = posted.integer(name).value_or(any);
    const std::int64_t what = got.integer(name).value_or(asked);
    return what == any || (asked != any && what != asked) ? std::nullopt : std::optional(what);
}

/// Bytes that a receive got, or that it has room for if nothing tells more.
std::optional<std::int64_t> received_size(const Operation& receive, const Element& got)
{
    const std::optional<std::int64_t> told = receive.rid < 0 ? std::nullopt : got.integer("size");
    return told ? told : receive.call->integer(receive.facts->received_size);
}

} // namespace

std::size_t MessageCounts::Hash::operator()(const Channel& channel) const
{
    constexpr std::size_t spread = 0x9e3779b97f4a7c15; // 2^64 divided by the golden ratio
    std::size_t hash = reinterpret_cast<std::uintptr_t>(channel.communicator) + channel.is_partitioned;
    for (const std::int64_t part : {channel.source, channel.destination, channel.tag}) {
        hash = (hash ^ static_cast<std::size_t>(part)) * spread;
        hash ^= hash >> 32;
    }
    return hash;
}

void MessageCounts::enter(const Call& call)
{
    if (call.has_failed() || call.facts.probes == ProbeKind::takes)
        doubt();
}

void MessageCounts::started(const Call&, const Operation& operation)
{
    if (operation.facts->sends != SendMode::none)
        send(operation);
    if (operation.facts->receives != ReceiveKind::none && operation.rid >= 0)
        ++m_receives_in_flight;
}

void MessageCounts::completed(const Call&, const Completion& completion)
{
    if (completion.operation == nullptr)
        return;
    const Operation& operation = *completion.operation;
    const bool receives = operation.facts->receives != ReceiveKind::none;
    const bool is_given_up_send = completion.outcome == Outcome::freed && !receives;
    if (completion.outcome != Outcome::completed && !is_given_up_send)
        return doubt();
    if (!receives)
        return;
    if (operation.rid >= 0)
        --m_receives_in_flight;
    receive(operation, completion);
}

void MessageCounts::send(const Operation& operation)
{
    const std::int64_t to = operation.call->integer("toRank").value_or(proc_null);
    if (to <= proc_null)
        return;
    const std::int64_t tag = operation.call->integer("toTag").value_or(any_tag);
    Count* const count = count_of(operation, operation.rank, to, tag);
    if (count == nullptr)
        return doubt();
    ++count->sent_and_not_received;
    if (operation.call->integer(operation.facts->sent_size).value_or(0) != 0)
        count->has_sent_data = true;
}

void MessageCounts::receive(const Operation& operation, const Completion& completion)
{
    const Element& posted = *operation.call;
    const Element& got = *completion.what;
    const auto asked = posted.integer("fromRank");
    if (asked && *asked <= proc_null)
        return;
    const auto from = told(posted, got, "fromRank", any_rank);
    const auto tag = told(posted, got, "fromTag", any_tag);
    const auto size = received_size(operation, got);
    Count* const count = from && tag && size ? count_of(operation, *from, operation.rank, *tag) : nullptr;
    if (count == nullptr)
        return doubt();
    --count->sent_and_not_received;
    if (*size == 0)
        count->has_received_nothing = true;
}

/// Null if the trace does not tell where the messages belong.
MessageCounts::Count* MessageCounts::count_of(const Operation& operation, std::int64_t source,
                                              std::int64_t destination, std::int64_t tag)
{
    const Communicator* const communicator = m_objects.communicator(operation.rank, *operation.call);
    if (communicator == nullptr || source < 0 || tag < 0)
        return nullptr;
    return &m_channels[{communicator, source, destination, tag, operation.facts->partitioned}];
}

void MessageCounts::add(const MessageCounts& other)
{
    m_is_doubtful = m_is_doubtful || other.m_is_doubtful;
    for (const auto& [channel, more] : other.m_channels) {
        const auto place = m_channels.try_emplace(channel).first;
        Count& count = place->second;
        count.sent_and_not_received += more.sent_and_not_received;
        count.has_sent_data = count.has_sent_data || more.has_sent_data;
        count.has_received_nothing = count.has_received_nothing || more.has_received_nothing;
        if (count.sent_and_not_received != 0)
            continue;
        if (count.has_sent_data && count.has_received_nothing) // perhaps of one that was too large
            doubt();
        m_channels.erase(place);
    }
}

} // namespace hdtrace::exporter
