#include "hdtrace/checking/message_check.h"

#include <optional>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/matching/saturated.h"

namespace hdtrace {
namespace {

constexpr std::size_t most_compared = 1000; // of the ends that are left over, each with each

std::string rank_text(std::int64_t rank)
{
    return rank == any_rank ? "any rank" : "rank " + std::to_string(rank);
}

std::string tag_text(std::int64_t tag)
{
    return tag == any_tag ? "any tag" : "tag " + std::to_string(tag);
}

/// Where the arguments are, and where a persistent request was started.
std::string at(const MessageEnd& end)
{
    return hdtrace::at(end.argument_site()) + (end.prepared_site ? ", started" + hdtrace::at(end.site) : "");
}

CallPlace sender_of(const OpenEnd& send)
{
    return {send.source, send.end.thread, send.end.line, send.end.argument_site()};
}

CallPlace receiver_of(const OpenEnd& receive)
{
    return {receive.destination, receive.end.thread, receive.end.line, receive.end.argument_site()};
}

/// Bytes that a receive has room for; nothing if it is not known.
std::optional<std::int64_t> room_of(const ObjectTable& objects, std::int64_t rank, const MessageEnd& receive)
{
    const Datatype* datatype = objects.datatype(rank, receive.tid);
    if (!datatype || datatype->combiner == "DARRAY" || receive.count < 0)
        return std::nullopt;
    const auto size = datatype->attributes.integer("size");
    return size && *size >= 0 ? std::optional(saturated_product(*size, receive.count)) : std::nullopt;
}

/// In what a message and a receive differ that fit otherwise.
std::optional<FindingKind> only_difference(const OpenEnd& send, const OpenEnd& receive)
{
    const bool same_communicator = send.communicator == receive.communicator;
    const bool same_tag = fits(receive.tag, send.tag);
    const bool same_source = fits(receive.source, send.source);
    const bool same_destination = receive.destination == send.destination;
    const int differences = !same_communicator + !same_tag + (!same_source || !same_destination);
    if (differences != 1 || (!same_source && !same_destination))
        return std::nullopt;
    return !same_communicator ? FindingKind::message_communicator_mismatch
           : !same_tag        ? FindingKind::message_tag_mismatch
                              : FindingKind::message_rank_mismatch;
}

} // namespace

void MessageCheck::check(const Message& message)
{
    check_pair(message.source, message.destination, *message.send, *message.receive);
}

bool MessageCheck::check_pair(std::int64_t source, std::int64_t destination, const MessageEnd& send,
                              const MessageEnd& receive)
{
    const CallPlace place{destination, receive.thread, receive.line, receive.argument_site()};
    const auto sent = [&] { return ", but it was sent" + at(send) + " by rank " + std::to_string(source); };
    const TypedData given{send.count, m_signatures.find(source, send.tid)};
    const TypedData taken{receive.count, m_signatures.find(destination, receive.tid)};
    if (const auto differs = difference(given, taken))
        m_findings.report(FindingKind::message_type_mismatch, place,
                          "the message is received" + at(receive) + " as " + differs->second + sent() +
                              " as " + differs->first,
                          send.argument_site());
    const auto room = room_of(m_findings.objects(), destination, receive);
    const bool is_too_small = room && send.tid >= 0 && send.size > *room;
    if (!is_too_small)
        return false;
    const std::string text = "the receive" + at(receive) + " has room for " + std::to_string(*room) +
                             " bytes" + sent() + " with " + std::to_string(send.size);
    if (receive.rid != OpenEnd::in_progress) // the program was told
        m_findings.report_as(Severity::warning, FindingKind::message_truncated, place, text);
    else
        m_findings.report(FindingKind::message_truncated, place, text, send.argument_site());
    return true;
}

void MessageCheck::check_rest(const OpenEnds& open, const RequestTable& requests)
{
    for (const OpenEnd& receive : open.receives())
        if (receive.other &&
            check_pair(receive.other->source, receive.destination, receive.other->end, receive.end) &&
            receive.is_in_progress())
            m_endings.explain(receive.destination);
    report_nearly_fitting(open);
    for (const OpenEnd& send : open.sends())
        if (!send.other && !m_told.contains(&send) && !send.is_in_progress())
            report_send(send);
    for (const OpenEnd& receive : open.receives())
        if (receive.end.is_only_probed())
            report_probed(receive);
        else if (!receive.other && !m_told.contains(&receive) && !receive.is_in_progress() &&
                 !requests.is_cancelled(receive.destination, receive.end.rid))
            report_receive(receive);
}

void MessageCheck::report_nearly_fitting(const OpenEnds& open)
{
    std::size_t sends = 0;
    for (const OpenEnd& send : open.sends()) {
        if (send.other)
            continue;
        if (++sends > most_compared)
            return;
        std::size_t receives = 0;
        for (const OpenEnd& receive : open.receives())
            if (!receive.other && !m_told.contains(&receive) &&
                (++receives > most_compared || report_if_nearly_fitting(send, receive)))
                break;
    }
}

bool MessageCheck::report_if_nearly_fitting(const OpenEnd& send, const OpenEnd& receive)
{
    const auto kind = only_difference(send, receive);
    if (!kind || (kind == FindingKind::message_rank_mismatch && is_always_posted(receive)))
        return false;
    m_told.insert(&send);
    m_told.insert(&receive);
    m_findings.report(*kind, sender_of(send),
                      "rank " + std::to_string(send.source) + " sends" + at(send.end) + " to " +
                          rank_text(send.destination) + ", " + where(send) + ", but rank " +
                          std::to_string(receive.destination) + " receives" + at(receive.end) + " from " +
                          rank_text(receive.source) + ", " + where(receive),
                      receive.end.argument_site(), reason_of_difference(send, receive));
    return true;
}

/// What fits better may have been about to come.
std::string MessageCheck::reason_of_difference(const OpenEnd& send, const OpenEnd& receive)
{
    const std::string of_receiver = m_endings.reason_if_free(send.destination);
    return of_receiver.empty() ? m_endings.reason_if_free(receive.source) : of_receiver;
}

/// What takes messages from anybody tells nothing of a message to somebody else if it is not waited for, or
/// by one of several threads: that one may do nothing else.
bool MessageCheck::is_always_posted(const OpenEnd& receive) const
{
    if (receive.source != any_rank)
        return false;
    return m_with_threads.contains(receive.destination) ||
           (!receive.is_in_progress() && !m_endings.waits_for(receive.destination, receive.end.rid));
}

std::string MessageCheck::where(const OpenEnd& open) const
{
    return tag_text(open.tag) +
           (open.communicator ? " on " + m_findings.project().label_of(*open.communicator) : std::string());
}

void MessageCheck::report_send(const OpenEnd& send)
{
    m_findings.report(FindingKind::message_not_received, sender_of(send),
                      "sent" + at(send.end) + " to " + rank_text(send.destination) + ", " + where(send) +
                          ", but never received",
                      nullptr, m_endings.reason_of(send.destination));
}

void MessageCheck::report_probed(const OpenEnd& receive)
{
    m_findings.report(FindingKind::message_not_received, receiver_of(receive),
                      "found" + at(receive.end) + " from " + rank_text(receive.source) + ", " +
                          where(receive) + ", but never received",
                      nullptr, m_endings.reason_of(receive.destination));
}

void MessageCheck::report_receive(const OpenEnd& receive)
{
    m_findings.report(FindingKind::message_not_sent, receiver_of(receive),
                      "receive" + at(receive.end) + " from " + rank_text(receive.source) + ", " +
                          where(receive) + ", but never sent",
                      nullptr, m_endings.reason_of(receive.source));
}

} // namespace hdtrace
