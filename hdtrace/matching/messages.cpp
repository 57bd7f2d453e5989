#include "hdtrace/matching/messages.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <deque>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/matching/beginnings.h"
#include "hdtrace/matching/one_sided_rules.h"
#include "hdtrace/matching/spare_nodes.h"

namespace hdtrace {
namespace {

constexpr std::int64_t any = any_rank; ///< source or tag
static_assert(any_tag == any && other_world < proc_null);

/// What an end says of its data. Those of partitioned operations count for one partition.
void set_data(MessageEnd& end, const Element& call, const CallFacts& facts, bool is_receive)
{
    if (facts.partitioned)
        return;
    const bool has_own = is_receive && call.has("recvtid");
    end.tid = call.integer(has_own ? "recvtid" : "tid").value_or(-1);
    end.count = call.integer(has_own ? "recvCount" : "count").value_or(-1);
}

// Of a call that blocks the plain attribute is what it got.
std::int64_t asked(const Element& call, const AttributeName& posted, const AttributeName& plain)
{
    return call.integer(posted).value_or(call.integer(plain).value_or(-1));
}

MessageEnd end_of(const ObjectTable& objects, const Operation& operation, bool is_receive)
{
    const std::string_view size = is_receive ? operation.facts->received_size : operation.facts->sent_size;
    MessageEnd end{operation.thread,
                   operation.time,
                   operation.end,
                   operation.line,
                   operation.call->integer(size).value_or(0),
                   operation.rid,
                   objects.call_site(operation.rank, operation.site)};
    end.size_is_known = operation.call->has(size) || operation.call->has("rc");
    if (is_receive && operation.facts->receives == ReceiveKind::posted) {
        end.is_posted = true;
        end.asked_source = asked(*operation.call, "postedRank", "fromRank");
        end.asked_tag = asked(*operation.call, "postedTag", "fromTag");
    }
    if (operation.facts->progress == CallProgress::prepares)
        end.prepared_site = objects.call_site(operation.rank, *operation.call);
    end.waits_for_receive =
        !is_receive && operation.rid < 0 && operation.facts->sends == SendMode::synchronous;
    end.is_ready = !is_receive && operation.facts->sends == SendMode::ready;
    end.number = operation.number;
    set_data(end, *operation.call, *operation.facts, is_receive);
    return end;
}

// Where messages can meet: one communicator; partitioned operations meet only each other.
struct Space {
    const Communicator* communicator = nullptr;
    std::int64_t cid = -1; ///< of a communicator that the project does not describe
    bool partitioned = false;
    auto operator<=>(const Space&) const = default;
};

// All that a process can receive in a space.
struct MailboxKey {
    Space space;
    std::int64_t destination = 0;
    auto operator<=>(const MailboxKey&) const = default;
};

MailboxKey mailbox_of(const SendingStep& step)
{
    return {{step.communicator, step.cid, step.partitioned}, step.destination};
}

std::size_t combine(std::size_t hash, std::size_t part)
{
    constexpr std::size_t spread = 0x9e3779b97f4a7c15; // 2^64 divided by the golden ratio
    hash = (hash ^ part) * spread;
    return hash ^ (hash >> 32);
}

struct MailboxHash {
    std::size_t operator()(const MailboxKey& key) const
    {
        const auto space = reinterpret_cast<std::uintptr_t>(key.space.communicator) + key.space.partitioned;
        return combine(combine(space, static_cast<std::size_t>(key.space.cid)),
                       static_cast<std::size_t>(key.destination));
    }
};

// The messages among which the order holds.
struct ChannelKey {
    std::int64_t source = 0;
    std::int64_t tag = 0;
    auto operator<=>(const ChannelKey&) const = default;
};

bool fits(std::int64_t wanted, std::int64_t present)
{
    return wanted == any || wanted == present;
}

struct Receive;
using ReceivePointer = std::shared_ptr<Receive>;
using OpenReceives = std::list<ReceivePointer>; // as they were started

struct Receive {
    std::int64_t source = any;
    std::int64_t tag = any;
    MessageEnd end;
    bool is_over = false;
    bool is_cancelled = false;
    bool is_freed = false; ///< the program gave it up: nothing will tell what it gets
    /// While it is one of the open ones of its mailbox.
    std::optional<OpenReceives::iterator> open_place = std::nullopt;
    bool waits = false; ///< for others that are open; what it gets is known

    /// Whether it is known what it gets; older traces never tell it.
    bool is_resolved() const { return (source != any && tag != any) || (is_over && !is_freed); }
    bool may_get(std::int64_t from, std::int64_t with_tag) const
    {
        return fits(source, from) && fits(tag, with_tag);
    }
};

/// The first of the sends meets the first of the receives, and so on; cancelled ones are not in it.
struct Channel {
    std::deque<MessageEnd> sends;
    std::deque<ReceivePointer> receives;
};

// The first one or, as a rule, started lately: any number may stand before it that are over, while what was
// sent is not known.
std::optional<std::size_t> place_of(const Receive& receive, const Channel& channel)
{
    const auto& receives = channel.receives;
    if (!receives.empty() && receives.front().get() == &receive)
        return 0;
    const auto found = std::ranges::find(receives.rbegin(), receives.rend(), &receive, &ReceivePointer::get);
    if (found == receives.rend())
        return std::nullopt;
    return static_cast<std::size_t>(receives.rend() - found) - 1;
}

using Channels = std::map<ChannelKey, Channel>;

/// A send or a receive of which nothing tells which message it was: what comes before it cannot be counted
/// from the end.
struct Doubt {
    std::int64_t source = any;
    std::int64_t tag = any;
    std::int64_t time = 0;
    bool is_send = false;

    bool is_about(const ChannelKey& channel) const
    {
        return fits(source, channel.source) && fits(tag, channel.tag);
    }
};

struct Mailbox {
    Channels channels;
    /// Receives whose place is not known yet, and those behind them that have to wait for it.
    OpenReceives open;
    std::size_t waiting = 0; ///< how many of them wait for others
    /// Sends and receives of which nothing tells whether they were cancelled, or that failed: so many others
    /// may lack their other end.
    std::size_t doubtful = 0;
    /// Where first calls are missing.
    std::vector<Doubt> doubts;
};

// Keys and values stay where they are.
using Mailboxes = std::unordered_map<MailboxKey, Mailbox, MailboxHash>;

// A receive in flight and where it belongs.
struct PendingReceive {
    Mailboxes::value_type* mailbox = nullptr;
    ReceivePointer receive;
};

// A receive that got a message which it has no room for, and it is known which one.
bool was_too_small(const Completion& completion, const Receive& receive)
{
    const auto error = completion.what->find("rc");
    return error && *error == "MPI_ERR_TRUNCATE" && receive.is_resolved();
}

// Whether one that was started before @p end may get its message.
bool has_to_wait(const OpenReceives& open, OpenReceives::const_iterator end, const Receive& receive)
{
    return std::any_of(open.begin(), end, [&](const ReceivePointer& earlier) {
        return !earlier->is_resolved() && earlier->may_get(receive.source, receive.tag);
    });
}

void set_waits(Mailbox& mailbox, Receive& receive, bool waits)
{
    mailbox.waiting -= receive.waits ? 1 : 0;
    mailbox.waiting += waits ? 1 : 0;
    receive.waits = waits;
}

ReceivePointer take_out(Mailbox& mailbox, OpenReceives::iterator at)
{
    ReceivePointer receive = std::move(*at);
    mailbox.open.erase(at);
    receive->open_place.reset();
    set_waits(mailbox, *receive, false);
    return receive;
}

using RequestId = std::pair<std::int64_t, std::int64_t>; // rank and rid

struct RequestHash {
    std::size_t operator()(const RequestId& id) const
    {
        return combine(static_cast<std::size_t>(id.first), static_cast<std::size_t>(id.second));
    }
};

using PendingReceives = std::unordered_map<RequestId, PendingReceive, RequestHash>;

using ReceiveCounts = std::map<ChannelKey, std::size_t>;

// That of a message which such a receive can have got, sent first and for none of the receives that are told.
std::optional<ChannelKey> channel_with_more(const Mailbox& mailbox, const Receive& receive,
                                            const ReceiveCounts& told)
{
    const MessageEnd* first = nullptr;
    std::optional<ChannelKey> found;
    for (const auto& [key, channel] : mailbox.channels) {
        const std::size_t before = channel.receives.size();
        const auto others = told.find(key);
        if (!receive.may_get(key.source, key.tag) ||
            channel.sends.size() <= before + (others == told.end() ? 0 : others->second))
            continue;
        if (first == nullptr || channel.sends[before].time < first->time) {
            first = &channel.sends[before];
            found = key;
        }
    }
    return found;
}

// What a probe took and no receive has fetched.
struct ProbedMessage {
    std::int64_t mid = -1; // not told by older traces, nor by other tools
    ReceivePointer receive;
};
using ProbedMessages = std::map<std::pair<MailboxKey, ChannelKey>, std::deque<ProbedMessage>>;

} // namespace

struct MessageMatcher::Matching {
    Matching(const ObjectTable& objects, OnMessage on_message)
        : objects(objects), beginnings(objects.project()),
          has_one_side(one_sided_rules(objects.project()).of_messages), on_message(std::move(on_message))
    {
    }

    void start(const Operation& operation);
    void complete(const Completion& completion);
    void take_probe(const Call& call);
    // A blocking receive, from its beginning to its end.
    void take_receive(const Operation& operation);
    // The receive that an operation starts, if anything can be received.
    PendingReceive post(const Operation& operation);

    Space space_of(std::int64_t rank, const Element& call, const CallFacts& facts) const;
    void send(const Operation& operation);
    SendingStep step_of(const Operation& send, SendingStep::What what) const;
    /// To whoever looks after the process that can receive it.
    void hand_over(const SendingStep& step);
    void take(const SendingStep& step);
    ReceivePointer receive(Mailboxes::value_type& mailbox, const Element& call, const MessageEnd& end);
    /// Where the probe is not told, as in traces of other tools, it is a receive like others.
    ReceivePointer fetch_probed(Mailboxes::value_type& mailbox, const Element& call, const MessageEnd& end);
    Mailboxes::value_type& mailbox_at(const MailboxKey& key) { return *mailboxes.try_emplace(key).first; }
    void cancel_send(const SendingStep& step);
    /// After @p receive was over.
    void update(Mailboxes::value_type& mailbox, Receive& receive);
    void forget(ReceivePointer receive);
    /// Of one that is open and now over, and of those that waited for it.
    void place_open(const MailboxKey& key, Mailbox& mailbox, Receive& receive);
    void place_waiting(const MailboxKey& key, Mailbox& mailbox, OpenReceives::iterator first);
    /// Where nothing follows: those that wait for a receive from anybody that was never completed.
    void place_rest(const MailboxKey& key, Mailbox& mailbox);
    bool is_behind_doubt(const MailboxKey& key, const Mailbox& mailbox, const ChannelKey& channel,
                         const Receive& receive) const;
    /// A receive of which it is known what it gets.
    void place(const MailboxKey& key, Mailbox& mailbox, const ChannelKey& channel, ReceivePointer receive);
    /// The channel, which is made if it does not exist.
    Channels::iterator channel_of(Mailbox& mailbox, const ChannelKey& key);
    /// Reports the message of which both ends stand at @p place, if its receive is over, and takes them out.
    bool report_at(const MailboxKey& key, Channels::value_type& channel, std::size_t place) const;
    /// After something was taken out of the middle of a channel: what is behind it meets others.
    void report_all(const MailboxKey& key, Channels::value_type& channel) const;
    void remove_if_empty(Mailbox& mailbox, Channels::iterator channel);
    void report(const MailboxKey& key, const ChannelKey& channel, std::optional<MessageEnd> send,
                std::optional<MessageEnd> receive) const;
    /// The last of both ends, when nothing follows, and takes them out.
    void report_from_end(const MailboxKey& key, const Mailbox& mailbox, Channels::value_type& channel) const;
    /// From when on ends of a channel can be counted.
    std::optional<std::int64_t> counted_from(std::int64_t rank, const Mailbox& mailbox,
                                             const ChannelKey& channel, bool is_send) const;
    /// Receives that are not over, each by itself.
    void report_pending() const;
    /// What has no other end.
    void report_rest(const MailboxKey& key, Mailbox& mailbox) const;

    const ObjectTable& objects;
    Beginnings beginnings;
    bool has_one_side; ///< of some messages: no ends are put together
    OnMessage on_message;
    IsElsewhere is_elsewhere; ///< empty: nobody is
    OnStep on_step;
    Mailboxes mailboxes;
    PendingReceives pending;
    ProbedMessages probed;
    detail::SpareNodes<PendingReceives> spare_pending;
    detail::SpareNodes<Channels> spare_channels; ///< empty ones
    std::vector<ReceivePointer> spare_receives;
};

void MessageMatcher::Matching::start(const Operation& operation)
{
    if (operation.facts->sends != SendMode::none)
        send(operation);
    if (operation.facts->receives == ReceiveKind::none || operation.rid < 0)
        return;
    PendingReceive posted = post(operation);
    if (!posted.receive)
        return;
    PendingReceives::node_type node = spare_pending.take({operation.rank, operation.rid});
    node.mapped() = std::move(posted);
    if (auto known = pending.insert(std::move(node)); !known.inserted) // only in a damaged trace
        std::swap(known.position->second, known.node.mapped());
}

Space MessageMatcher::Matching::space_of(std::int64_t rank, const Element& call, const CallFacts& facts) const
{
    if (const Communicator* communicator = objects.communicator(rank, call))
        return {communicator, -1, facts.partitioned};
    return {nullptr, call.integer("cid").value_or(-1), facts.partitioned};
}

PendingReceive MessageMatcher::Matching::post(const Operation& operation)
{
    const CallFacts& facts = *operation.facts;
    Mailboxes::value_type& mailbox =
        mailbox_at({space_of(operation.rank, *operation.call, facts), operation.rank});
    const MessageEnd end = end_of(objects, operation, true);
    return {&mailbox, facts.receives == ReceiveKind::probed ? fetch_probed(mailbox, *operation.call, end)
                                                            : receive(mailbox, *operation.call, end)};
}

void MessageMatcher::Matching::take_receive(const Operation& operation)
{
    PendingReceive taken = post(operation);
    if (!taken.receive)
        return;
    taken.receive->is_over = true;
    update(*taken.mailbox, *taken.receive);
    forget(std::move(taken.receive));
}

void MessageMatcher::Matching::forget(ReceivePointer receive)
{
    constexpr std::size_t most_spare_receives = 1024;
    if (receive.use_count() == 1 && spare_receives.size() < most_spare_receives)
        spare_receives.push_back(std::move(receive));
}

void MessageMatcher::Matching::take_probe(const Call& call)
{
    const State& state = call.state;
    const auto source = state.integer("fromRank");
    const auto tag = state.integer("fromTag");
    if (state.is_unfinished() || call.has_failed() || state.integer("flag") == 0 || !source || !tag)
        return;
    Mailboxes::value_type& mailbox =
        mailbox_at({space_of(call.trace.rank, state, call.facts), call.trace.rank});
    const MessageEnd end{.thread = call.trace.thread,
                         .time = state.time,
                         .end = state.end,
                         .line = state.line,
                         .size = state.integer("size").value_or(0),
                         .site = objects.call_site(call.trace.rank, state),
                         .probe_line = state.line,
                         .probe_thread = call.trace.thread};
    if (const ReceivePointer taken = receive(mailbox, state, end))
        probed[{mailbox.first, {*source, *tag}}].push_back({state.integer("mid").value_or(-1), taken});
}

void MessageMatcher::Matching::complete(const Completion& completion)
{
    if (!completion.operation)
        return;
    const Operation& operation = *completion.operation;
    if (operation.rid < 0 && operation.facts->receives != ReceiveKind::none)
        return take_receive(operation);
    PendingReceives::node_type found = pending.extract({operation.rank, operation.rid});
    if (!found) {
        if (completion.outcome == Outcome::cancelled)
            hand_over(step_of(operation, SendingStep::What::cancelled));
        else if (completion.outcome == Outcome::perhaps_cancelled || completion.outcome == Outcome::failed)
            hand_over(step_of(operation, SendingStep::What::in_doubt));
        return;
    }
    auto& [mailbox, taken] = found.mapped();
    // MPI libraries can cancel every receive that has got no message yet, but few sends.
    const bool is_doubtful = completion.outcome == Outcome::perhaps_cancelled ||
                             (completion.outcome == Outcome::failed && !was_too_small(completion, *taken));
    mailbox->second.doubtful += is_doubtful ? 1 : 0;
    if (is_doubtful && beginnings.are_missing())
        mailbox->second.doubts.push_back({taken->source, taken->tag, taken->end.time});
    if (completion.outcome == Outcome::failed) {
        taken->end.size = 0;
        taken->end.size_is_known = true;
    }
    if (completion.outcome == Outcome::freed)
        taken->end.size_is_known = false;
    if (completion.outcome == Outcome::completed) {
        taken->source = completion.what->integer("fromRank").value_or(taken->source);
        taken->tag = completion.what->integer("fromTag").value_or(taken->tag);
        const auto size = completion.what->integer("size");
        taken->end.size = size.value_or(taken->end.size);
        taken->end.size_is_known = size.has_value(); // the call tells how much there is room for
    }
    taken->end.end = completion.end;
    taken->end.end_is_known = completion.outcome != Outcome::freed;
    taken->is_over = true;
    taken->is_cancelled = completion.outcome == Outcome::cancelled || is_doubtful;
    taken->is_freed = completion.outcome == Outcome::freed;
    if (taken->is_resolved())
        update(*mailbox, *taken);
    forget(std::move(taken));
    spare_pending.add(std::move(found));
}

void MessageMatcher::Matching::send(const Operation& operation)
{
    const SendingStep step = step_of(operation, SendingStep::What::sent);
    if (step.destination > proc_null)
        hand_over(step);
}

SendingStep MessageMatcher::Matching::step_of(const Operation& send, SendingStep::What what) const
{
    const Element& call = *send.call;
    const Space space = space_of(send.rank, call, *send.facts);
    return {.what = what,
            .communicator = space.communicator,
            .cid = space.cid,
            .partitioned = space.partitioned,
            .source = send.rank,
            .destination = call.integer("toRank").value_or(proc_null),
            .tag = call.integer("toTag").value_or(any),
            .end = end_of(objects, send, false)};
}

void MessageMatcher::Matching::hand_over(const SendingStep& step)
{
    if (is_elsewhere && is_elsewhere(step.destination))
        on_step(step);
    else
        take(step);
}

void MessageMatcher::Matching::take(const SendingStep& step)
{
    if (step.what == SendingStep::What::cancelled)
        return cancel_send(step);
    auto& [key, mailbox] = mailbox_at(mailbox_of(step));
    if (step.what == SendingStep::What::in_doubt) {
        ++mailbox.doubtful;
        if (beginnings.are_missing())
            mailbox.doubts.push_back({step.source, step.tag, step.end.time, true});
        return;
    }
    if (has_one_side)
        return report(key, {step.source, step.tag}, step.end, {});
    const auto channel = channel_of(mailbox, {step.source, step.tag});
    auto& sends = channel->second.sends;
    sends.push_back(step.end);
    report_at(key, *channel, sends.size() - 1);
    remove_if_empty(mailbox, channel);
}

ReceivePointer MessageMatcher::Matching::receive(Mailboxes::value_type& mailbox, const Element& call,
                                                 const MessageEnd& end)
{
    // What was asked for may not be told, only what came: in traces of other tools.
    const auto source = call.has("fromRank") || end.rid < 0 ? call.integer("fromRank") : any;
    if (!source || *source <= proc_null)
        return nullptr;
    if (spare_receives.empty())
        spare_receives.push_back(std::make_shared<Receive>());
    ReceivePointer taken = std::move(spare_receives.back());
    spare_receives.pop_back();
    *taken = {.source = *source, .tag = call.integer("fromTag").value_or(any), .end = end};
    if (has_one_side)
        return taken;
    OpenReceives& open = mailbox.second.open;
    if (taken->is_resolved() && !has_to_wait(open, open.end(), *taken)) {
        place(mailbox.first, mailbox.second, {taken->source, taken->tag}, taken);
    } else {
        taken->open_place = open.insert(open.end(), taken);
        set_waits(mailbox.second, *taken, taken->is_resolved());
    }
    return taken;
}

ReceivePointer MessageMatcher::Matching::fetch_probed(Mailboxes::value_type& mailbox, const Element& call,
                                                      const MessageEnd& end)
{
    const ChannelKey channel{call.integer("fromRank").value_or(any), call.integer("fromTag").value_or(any)};
    const auto found = probed.find({mailbox.first, channel});
    const bool was_given_up = beginnings.is_missing(mailbox.first.destination) && call.has("mid");
    if (found == probed.end())
        return was_given_up ? nullptr : receive(mailbox, call, end);
    auto& messages = found->second;
    const auto told = std::ranges::find(messages, call.integer("mid").value_or(-1), &ProbedMessage::mid);
    const auto fetched = told == messages.end() ? messages.begin() : told;
    ReceivePointer taken = std::move(fetched->receive);
    messages.erase(fetched);
    if (messages.empty())
        probed.erase(found);
    const MessageEnd probe = std::exchange(taken->end, end);
    taken->end.probe_line = probe.line;
    taken->end.probe_thread = probe.thread;
    return taken;
}

void MessageMatcher::Matching::cancel_send(const SendingStep& step)
{
    const auto found = mailboxes.find(mailbox_of(step));
    if (found == mailboxes.end())
        return;
    for (auto& channel : found->second.channels) {
        const auto is_cancelled = [&](const MessageEnd& end) { return end.rid == step.end.rid; };
        if (channel.first.source == step.source && std::erase_if(channel.second.sends, is_cancelled) > 0)
            report_all(found->first, channel);
    }
}

void MessageMatcher::Matching::update(Mailboxes::value_type& of_process, Receive& receive)
{
    auto& [key, mailbox] = of_process;
    if (has_one_side) {
        if (!receive.is_cancelled)
            report(key, {receive.source, receive.tag}, {}, receive.end);
        return;
    }
    if (receive.open_place)
        place_open(key, mailbox, receive);
    const auto channel = mailbox.channels.find({receive.source, receive.tag});
    if (channel == mailbox.channels.end())
        return;
    const auto place = place_of(receive, channel->second);
    if (!place)
        return;
    if (receive.is_cancelled) {
        auto& receives = channel->second.receives;
        receives.erase(receives.begin() + static_cast<std::ptrdiff_t>(*place));
        report_all(key, *channel);
    } else {
        report_at(key, *channel, *place);
    }
    remove_if_empty(mailbox, channel);
}

void MessageMatcher::Matching::place_open(const MailboxKey& key, Mailbox& mailbox, Receive& receive)
{
    const auto at = *receive.open_place;
    const auto next = std::next(at);
    const bool held_others = !receive.waits;
    set_waits(mailbox, receive, !receive.is_cancelled && has_to_wait(mailbox.open, at, receive));
    if (!receive.waits) {
        const ReceivePointer taken = take_out(mailbox, at);
        if (!receive.is_cancelled)
            place(key, mailbox, {receive.source, receive.tag}, taken);
    }
    if (held_others && mailbox.waiting > 0)
        place_waiting(key, mailbox, next);
}

void MessageMatcher::Matching::place_waiting(const MailboxKey& key, Mailbox& mailbox,
                                             OpenReceives::iterator first)
{
    for (auto at = first; at != mailbox.open.end();) {
        const auto next = std::next(at);
        if ((*at)->waits && !has_to_wait(mailbox.open, at, **at)) {
            const ReceivePointer taken = take_out(mailbox, at);
            place(key, mailbox, {taken->source, taken->tag}, taken);
        }
        at = next;
    }
}

// Of a message that a receive from anybody could get it was the first to do so: if another one got it that
// was started later, the former had got one. It is one of a channel in which more was sent than the others
// got; if there are several, that of which it was sent first.
void MessageMatcher::Matching::place_rest(const MailboxKey& key, Mailbox& mailbox)
{
    ReceiveCounts told; // that are not in their channels yet
    for (const ReceivePointer& receive : mailbox.open)
        if (receive->is_resolved())
            ++told[{receive->source, receive->tag}];
    OpenReceives got_nothing;
    mailbox.waiting = 0;
    for (ReceivePointer& receive : std::exchange(mailbox.open, {})) {
        receive->open_place.reset();
        if (receive->is_resolved()) {
            const ChannelKey channel{receive->source, receive->tag};
            --told[channel];
            if (is_behind_doubt(key, mailbox, channel, *receive))
                got_nothing.push_back(std::move(receive));
            else
                place(key, mailbox, channel, std::move(receive));
            continue;
        }
        if (beginnings.are_missing()) { // how much was sent tells nothing then
            mailbox.doubts.push_back({receive->source, receive->tag, receive->end.time});
            got_nothing.push_back(std::move(receive));
            continue;
        }
        if (const auto from = channel_with_more(mailbox, *receive, told))
            place(key, mailbox, *from, std::move(receive));
        else
            got_nothing.push_back(std::move(receive));
    }
    mailbox.open = std::move(got_nothing);
}

/// And its channel is counted from the beginning.
bool MessageMatcher::Matching::is_behind_doubt(const MailboxKey& key, const Mailbox& mailbox,
                                               const ChannelKey& channel, const Receive& receive) const
{
    return !beginnings.is_missing(key.destination, channel.source) &&
           std::ranges::any_of(mailbox.doubts, [&](const Doubt& doubt) {
               return doubt.is_about(channel) && doubt.time < receive.end.time;
           });
}

void MessageMatcher::Matching::place(const MailboxKey& key, Mailbox& mailbox, const ChannelKey& channel_key,
                                     ReceivePointer receive)
{
    const auto channel = channel_of(mailbox, channel_key);
    auto& receives = channel->second.receives;
    receives.push_back(std::move(receive));
    report_at(key, *channel, receives.size() - 1);
    remove_if_empty(mailbox, channel);
}

Channels::iterator MessageMatcher::Matching::channel_of(Mailbox& mailbox, const ChannelKey& key)
{
    const auto place = mailbox.channels.lower_bound(key);
    if (place != mailbox.channels.end() && place->first == key)
        return place;
    return mailbox.channels.insert(place, spare_channels.take(key));
}

bool MessageMatcher::Matching::report_at(const MailboxKey& key, Channels::value_type& channel,
                                         std::size_t place) const
{
    auto& [sends, receives] = channel.second;
    if (place >= sends.size() || place >= receives.size() || !receives[place]->is_over ||
        beginnings.is_missing(key.destination, channel.first.source))
        return false;
    const auto at = static_cast<std::ptrdiff_t>(place);
    report(key, channel.first, std::move(sends[place]), receives[place]->end);
    sends.erase(sends.begin() + at);
    receives.erase(receives.begin() + at);
    return true;
}

void MessageMatcher::Matching::report_all(const MailboxKey& key, Channels::value_type& channel) const
{
    for (std::size_t place = 0; place < channel.second.receives.size();)
        if (!report_at(key, channel, place))
            ++place;
}

void MessageMatcher::Matching::remove_if_empty(Mailbox& mailbox, Channels::iterator channel)
{
    if (channel->second.receives.empty() && channel->second.sends.empty())
        spare_channels.add(mailbox.channels.extract(channel));
}

void MessageMatcher::Matching::report(const MailboxKey& key, const ChannelKey& channel,
                                      std::optional<MessageEnd> send, std::optional<MessageEnd> receive) const
{
    if (send && receive && !receive->size_is_known)
        receive->size = send->size;
    on_message({key.space.communicator, channel.source, key.destination, channel.tag, std::move(send),
                std::move(receive)});
}

std::optional<std::int64_t> MessageMatcher::Matching::counted_from(std::int64_t rank, const Mailbox& mailbox,
                                                                   const ChannelKey& channel,
                                                                   bool is_send) const
{
    std::optional<std::int64_t> from = beginnings.complete_from(rank);
    for (const Doubt& doubt : mailbox.doubts)
        if (from && doubt.is_send == is_send && doubt.is_about(channel))
            from = std::max(*from, doubt.time + 1);
    return from;
}

void MessageMatcher::Matching::report_from_end(const MailboxKey& key, const Mailbox& mailbox,
                                               Channels::value_type& channel) const
{
    const auto sent_from = counted_from(channel.first.source, mailbox, channel.first, true);
    const auto received_from = counted_from(key.destination, mailbox, channel.first, false);
    if (!sent_from || !received_from)
        return;
    auto& [sends, receives] = channel.second;
    const auto last_before = [](const auto& ends, auto is_before) {
        return std::find_if(ends.rbegin(), ends.rend(), is_before) - ends.rbegin();
    };
    const auto count = std::min(
        last_before(sends, [&](const MessageEnd& send) { return send.time < *sent_from; }),
        last_before(receives, [&](const auto& receive) { return receive->end.time < *received_from; }));
    for (std::ptrdiff_t i = count; i > 0; --i) {
        const Receive& receive = **(receives.end() - i);
        if (receive.is_over)
            report(key, channel.first, std::move(*(sends.end() - i)), receive.end);
    }
    sends.erase(sends.end() - count, sends.end());
    receives.erase(receives.end() - count, receives.end());
}

void MessageMatcher::Matching::report_pending() const
{
    const std::map<RequestId, PendingReceive> in_order(pending.begin(), pending.end());
    for (const auto& [request, one] : in_order) {
        MessageEnd end = one.receive->end;
        end.is_complete = false;
        report(one.mailbox->first, {one.receive->source, one.receive->tag}, {}, std::move(end));
    }
}

void MessageMatcher::Matching::report_rest(const MailboxKey& key, Mailbox& mailbox) const
{
    std::size_t excused = mailbox.doubtful;
    const auto report_end = [&](const ChannelKey& channel, std::optional<MessageEnd> send,
                                std::optional<MessageEnd> receive) {
        if (excused > 0)
            --excused;
        else
            report(key, channel, std::move(send), std::move(receive));
    };
    const auto report_receive = [&](const Receive& receive) {
        MessageEnd end = receive.end;
        end.is_complete = receive.is_over && !receive.is_freed;
        report_end({receive.source, receive.tag}, {}, std::move(end));
    };
    for (auto& of_channel : mailbox.channels) {
        auto& [channel_key, channel] = of_channel;
        if (beginnings.is_missing(key.destination, channel_key.source))
            report_from_end(key, mailbox, of_channel);
        for (const MessageEnd& send : channel.sends)
            report_end(channel_key, send, {});
        for (const ReceivePointer& receive : channel.receives)
            report_receive(*receive);
    }
    for (const ReceivePointer& receive : mailbox.open)
        report_receive(*receive);
}

std::int64_t arrival_of(const Message& message)
{
    const MessageEnd& receive = *message.receive;
    return receive.end_is_known ? receive.end : std::max(message.send->time, receive.time);
}

MessageMatcher::MessageMatcher(const ObjectTable& objects, OnMessage on_message)
    : m_matching(std::make_unique<Matching>(objects, std::move(on_message)))
{
}

MessageMatcher::~MessageMatcher() = default;
MessageMatcher::MessageMatcher(MessageMatcher&&) noexcept = default;
MessageMatcher& MessageMatcher::operator=(MessageMatcher&&) noexcept = default;

void MessageMatcher::started(const Call&, const Operation& operation)
{
    m_matching->start(operation);
}

void MessageMatcher::completed(const Call&, const Completion& completion)
{
    m_matching->complete(completion);
}

void MessageMatcher::leave(const Call& call)
{
    if (m_matching->beginnings.are_missing())
        m_matching->beginnings.leave(call);
    if (call.facts.probes == ProbeKind::takes)
        m_matching->take_probe(call);
}

void MessageMatcher::mark(const Call& call)
{
    if (m_matching->beginnings.are_missing())
        m_matching->beginnings.mark(call);
    else
        EventVisitor::mark(call);
}

void MessageMatcher::leave_elsewhere(IsElsewhere elsewhere, OnStep on_step)
{
    m_matching->is_elsewhere = std::move(elsewhere);
    m_matching->on_step = std::move(on_step);
}

void MessageMatcher::take(const SendingStep& step)
{
    m_matching->take(step);
}

void MessageMatcher::finish()
{
    std::map<MailboxKey, Mailbox*> in_order;
    for (auto& [key, mailbox] : m_matching->mailboxes)
        in_order.emplace(key, &mailbox);
    for (const auto& [key, mailbox] : in_order) {
        m_matching->place_rest(key, *mailbox);
        m_matching->report_rest(key, *mailbox);
    }
    if (m_matching->has_one_side)
        m_matching->report_pending();
    m_matching->mailboxes.clear();
    m_matching->pending.clear();
    m_matching->probed.clear();
}

} // namespace hdtrace
