#include "hdtrace/matching/messages.h"

#include <algorithm>
#include <compare>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace hdtrace {
namespace {

constexpr std::int64_t any = -1;        ///< source or tag
constexpr std::int64_t no_process = -2; ///< and below: processes of other worlds

// Which calls send or receive, and which attribute has the size.
struct Role {
    std::string_view call;
    std::string_view sent;     ///< empty: it does not send
    std::string_view received; ///< empty: it does not receive
};

constexpr Role roles[] = {
    {"Send", "size", ""},
    {"Bsend", "size", ""},
    {"Ssend", "size", ""},
    {"Rsend", "size", ""},
    {"Recv", "", "size"},
    {"Sendrecv", "size", "recvSize"},
    {"Sendrecv_replace", "sendSize", "recvSize"},
    {"Isend", "size", ""},
    {"Ibsend", "size", ""},
    {"Issend", "size", ""},
    {"Irsend", "size", ""},
    {"Irecv", "", "size"},
    {"Isendrecv", "size", "recvSize"},
    {"Isendrecv_replace", "sendSize", "size"},
    {"Send_init", "size", ""},
    {"Bsend_init", "size", ""},
    {"Ssend_init", "size", ""},
    {"Rsend_init", "size", ""},
    {"Recv_init", "", "size"},
    {"Psend_init", "size", ""},
    {"Precv_init", "", "size"},
    {"Imrecv", "", "size"},
    {"Mrecv", "", "size"},
};

const Role* find_role(std::string_view call)
{
    const auto found = std::ranges::find(roles, call, &Role::call);
    return found == std::end(roles) ? nullptr : found;
}

// Receives of messages that a probe has taken before.
bool receives_probed(std::string_view call)
{
    return call == "Mrecv" || call == "Imrecv";
}

// Calls that failed did nothing, except those that got more than there was room for.
bool moved_data(const Element& call)
{
    const std::string* error = call.find("rc");
    return !error || *error == "MPI_ERR_TRUNCATE";
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

// The messages among which the order holds.
struct ChannelKey {
    std::int64_t source = 0;
    std::int64_t tag = 0;
    auto operator<=>(const ChannelKey&) const = default;
};

struct Receive {
    std::int64_t source = any;
    std::int64_t tag = any;
    MessageEnd end;
    bool is_over = false;
    bool is_cancelled = false;

    /// Whether it is known what it gets; older traces never tell it.
    bool is_resolved() const { return (source != any && tag != any) || is_over; }
    bool may_get(std::int64_t from, std::int64_t with_tag) const
    {
        return (source == any || source == from) && (tag == any || tag == with_tag);
    }
};
using ReceivePointer = std::shared_ptr<Receive>;

struct Channel {
    std::deque<MessageEnd> sends;
    std::deque<ReceivePointer> receives;
};

struct Mailbox {
    std::map<ChannelKey, Channel> channels;
    /// Receives whose place is not known yet, and those behind them that have to wait for it; as they were
    /// started.
    std::vector<ReceivePointer> open;
};

// A receive in flight and where it belongs.
struct PendingReceive {
    MailboxKey mailbox;
    ReceivePointer receive;
};

using RequestId = std::pair<std::int64_t, std::int64_t>; // rank and rid

// What a probe took and no receive has fetched.
using ProbedKey = std::pair<MailboxKey, ChannelKey>;

} // namespace

struct MessageMatcher::Matching {
    Matching(const ObjectTable& objects, OnMessage on_message)
        : objects(objects), on_message(std::move(on_message))
    {
    }

    void take(const TraceFile& trace, const State& call);
    /// The ends that this call starts; answers the receive.
    ReceivePointer take_ends(std::int64_t rank, const Element& call, const Role& role, MessageEnd end);
    void take_blocking(const TraceFile& trace, const State& call, const Role& role);
    void take_probe(const TraceFile& trace, const State& call);
    void take_start(const Operation& operation);
    void take_completion(const Completion& completion);

    Space space_of(std::int64_t rank, const Element& call) const;
    void send(const Space& space, std::int64_t rank, const Element& call, const MessageEnd& end);
    ReceivePointer receive(const MailboxKey& key, const Element& call, const MessageEnd& end);
    ReceivePointer fetch_probed(const MailboxKey& key, const Element& call, const MessageEnd& end);
    void cancel_send(const Operation& operation);
    /// After @p receive became resolved or was over.
    void update(const MailboxKey& key, const Receive& receive);
    void place_open(const MailboxKey& key, Mailbox& mailbox);
    void advance(const MailboxKey& key, const ChannelKey& channel_key);
    void report(const MailboxKey& key, const ChannelKey& channel, std::optional<MessageEnd> send,
                std::optional<MessageEnd> receive) const;

    const ObjectTable& objects;
    OnMessage on_message;
    RequestTable requests;
    std::map<MailboxKey, Mailbox> mailboxes;
    std::map<RequestId, PendingReceive> pending;
    std::map<ProbedKey, std::deque<ReceivePointer>> probed;
};

void MessageMatcher::Matching::take(const TraceFile& trace, const State& call)
{
    for (const State& nested : call.nested)
        take(trace, nested);
    const Progress& progress = requests.add(trace, call);
    for (const Completion& completion : progress.completed)
        take_completion(completion);
    for (const OperationPointer& operation : progress.started)
        take_start(*operation);
    if (call.name == "Mprobe" || call.name == "Improbe")
        take_probe(trace, call);
    else if (const Role* role = find_role(call.name); role && !call.find("rid"))
        take_blocking(trace, call, *role);
}

Space MessageMatcher::Matching::space_of(std::int64_t rank, const Element& call) const
{
    const bool partitioned = call.name.starts_with("P");
    if (const Communicator* communicator = objects.communicator(rank, call))
        return {communicator, -1, partitioned};
    return {nullptr, call.integer("cid").value_or(-1), partitioned};
}

ReceivePointer MessageMatcher::Matching::take_ends(std::int64_t rank, const Element& call, const Role& role,
                                                   MessageEnd end)
{
    const Space space = space_of(rank, call);
    if (!role.sent.empty()) {
        end.size = call.integer(role.sent).value_or(0);
        send(space, rank, call, end);
    }
    if (role.received.empty())
        return nullptr;
    end.size = call.integer(role.received).value_or(0);
    return receives_probed(call.name) ? fetch_probed({space, rank}, call, end)
                                      : receive({space, rank}, call, end);
}

void MessageMatcher::Matching::take_blocking(const TraceFile& trace, const State& call, const Role& role)
{
    if (call.is_unfinished() || !moved_data(call))
        return;
    const ReceivePointer taken =
        take_ends(trace.rank, call, role, {trace.thread, call.time, call.end, call.line, 0, -1});
    if (!taken)
        return;
    taken->is_over = true;
    update({space_of(trace.rank, call), trace.rank}, *taken);
}

void MessageMatcher::Matching::take_probe(const TraceFile& trace, const State& call)
{
    const auto source = call.integer("fromRank");
    const auto tag = call.integer("fromTag");
    if (call.find("rc") || call.integer("flag") == 0 || !source || !tag)
        return;
    const MailboxKey key{space_of(trace.rank, call), trace.rank};
    const MessageEnd end{trace.thread, call.time, call.end, call.line, call.integer("size").value_or(0), -1};
    if (const ReceivePointer taken = receive(key, call, end))
        probed[{key, {*source, *tag}}].push_back(taken);
}

void MessageMatcher::Matching::take_start(const Operation& operation)
{
    const Role* role = find_role(operation.call.name);
    if (!role)
        return;
    const MessageEnd end{operation.thread, operation.time, operation.end, operation.line, 0, operation.rid};
    if (const ReceivePointer taken = take_ends(operation.rank, operation.call, *role, end))
        pending[{operation.rank, operation.rid}] = {
            {space_of(operation.rank, operation.call), operation.rank}, taken};
}

void MessageMatcher::Matching::take_completion(const Completion& completion)
{
    if (!completion.operation)
        return;
    const Operation& operation = *completion.operation;
    const auto found = pending.extract({operation.rank, operation.rid});
    if (!found) {
        if (completion.outcome == Outcome::cancelled)
            cancel_send(operation);
        return;
    }
    const auto& [key, taken] = found.mapped();
    if (completion.outcome == Outcome::completed) {
        taken->source = completion.what->integer("fromRank").value_or(taken->source);
        taken->tag = completion.what->integer("fromTag").value_or(taken->tag);
        taken->end.size = completion.what->integer("size").value_or(taken->end.size);
    }
    taken->end.end = completion.end;
    taken->is_over = true;
    taken->is_cancelled = completion.outcome == Outcome::cancelled;
    update(key, *taken);
}

void MessageMatcher::Matching::send(const Space& space, std::int64_t rank, const Element& call,
                                    const MessageEnd& end)
{
    const auto destination = call.integer("toRank");
    if (!destination || *destination <= no_process)
        return;
    const MailboxKey key{space, *destination};
    const ChannelKey channel{rank, call.integer("toTag").value_or(any)};
    mailboxes[key].channels[channel].sends.push_back(end);
    advance(key, channel);
}

ReceivePointer MessageMatcher::Matching::receive(const MailboxKey& key, const Element& call,
                                                 const MessageEnd& end)
{
    const auto source = call.integer("fromRank");
    if (!source || *source <= no_process)
        return nullptr;
    auto taken =
        std::make_shared<Receive>(Receive{*source, call.integer("fromTag").value_or(any), end, false, false});
    Mailbox& mailbox = mailboxes[key];
    mailbox.open.push_back(taken);
    place_open(key, mailbox);
    return taken;
}

ReceivePointer MessageMatcher::Matching::fetch_probed(const MailboxKey& key, const Element& call,
                                                      const MessageEnd& end)
{
    const ChannelKey channel{call.integer("fromRank").value_or(any), call.integer("fromTag").value_or(any)};
    const auto found = probed.find({key, channel});
    if (found == probed.end())
        return nullptr;
    const ReceivePointer taken = found->second.front();
    found->second.pop_front();
    if (found->second.empty())
        probed.erase(found);
    taken->end = end;
    return taken;
}

void MessageMatcher::Matching::cancel_send(const Operation& operation)
{
    const auto found = mailboxes.find(
        {space_of(operation.rank, operation.call), operation.call.integer("toRank").value_or(no_process)});
    if (found == mailboxes.end())
        return;
    for (auto& [key, channel] : found->second.channels)
        if (key.source == operation.rank)
            std::erase_if(channel.sends, [&](const MessageEnd& end) { return end.rid == operation.rid; });
}

void MessageMatcher::Matching::update(const MailboxKey& key, const Receive& receive)
{
    Mailbox& mailbox = mailboxes[key];
    const ChannelKey channel{receive.source, receive.tag};
    place_open(key, mailbox);
    if (mailbox.channels.contains(channel))
        advance(key, channel);
}

void MessageMatcher::Matching::place_open(const MailboxKey& key, Mailbox& mailbox)
{
    std::vector<ReceivePointer> still_open;
    for (ReceivePointer& receive : mailbox.open) {
        if (receive->is_cancelled)
            continue;
        const auto could_take_its_message = [&](const ReceivePointer& earlier) {
            return !earlier->is_resolved() && earlier->may_get(receive->source, receive->tag);
        };
        if (!receive->is_resolved() || std::ranges::any_of(still_open, could_take_its_message)) {
            still_open.push_back(std::move(receive));
            continue;
        }
        const ChannelKey channel{receive->source, receive->tag};
        mailbox.channels[channel].receives.push_back(std::move(receive));
        advance(key, channel);
    }
    mailbox.open = std::move(still_open);
}

void MessageMatcher::Matching::advance(const MailboxKey& key, const ChannelKey& channel_key)
{
    Mailbox& mailbox = mailboxes[key];
    Channel& channel = mailbox.channels[channel_key];
    while (!channel.receives.empty()) {
        const Receive& receive = *channel.receives.front();
        if (!receive.is_cancelled) {
            if (!receive.is_over || channel.sends.empty())
                break;
            report(key, channel_key, channel.sends.front(), receive.end);
            channel.sends.pop_front();
        }
        channel.receives.pop_front();
    }
    if (channel.receives.empty() && channel.sends.empty())
        mailbox.channels.erase(channel_key);
}

void MessageMatcher::Matching::report(const MailboxKey& key, const ChannelKey& channel,
                                      std::optional<MessageEnd> send, std::optional<MessageEnd> receive) const
{
    on_message({key.space.communicator, channel.source, key.destination, channel.tag, std::move(send),
                std::move(receive)});
}

MessageMatcher::MessageMatcher(const ObjectTable& objects, OnMessage on_message)
    : m_matching(std::make_unique<Matching>(objects, std::move(on_message)))
{
}

MessageMatcher::~MessageMatcher() = default;
MessageMatcher::MessageMatcher(MessageMatcher&&) noexcept = default;
MessageMatcher& MessageMatcher::operator=(MessageMatcher&&) noexcept = default;

void MessageMatcher::add(const TraceFile& trace, const State& call)
{
    m_matching->take(trace, call);
}

void MessageMatcher::finish()
{
    for (const auto& [key, mailbox] : m_matching->mailboxes) {
        for (const auto& [channel_key, channel] : mailbox.channels) {
            for (const MessageEnd& send : channel.sends)
                m_matching->report(key, channel_key, send, {});
            for (const ReceivePointer& receive : channel.receives)
                if (!receive->is_cancelled)
                    m_matching->report(key, channel_key, {}, receive->end);
        }
        for (const ReceivePointer& receive : mailbox.open)
            m_matching->report(key, {receive->source, receive->tag}, {}, receive->end);
    }
    m_matching->mailboxes.clear();
    m_matching->pending.clear();
    m_matching->probed.clear();
}

const RequestTable& MessageMatcher::requests() const
{
    return m_matching->requests;
}

} // namespace hdtrace
