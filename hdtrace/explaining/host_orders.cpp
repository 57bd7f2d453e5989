#include "hdtrace/explaining/host_orders.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <optional>
#include <set>
#include <unordered_map>

#include "hdtrace/explaining/wait_kinds.h"
#include "hdtrace/format/errors.h"
#include "hdtrace/matching/collectives.h"
#include "hdtrace/matching/messages.h"
#include "hdtrace/matching/process_shares.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {
namespace {

constexpr std::size_t most_pieces = 1 << 18;       // of all pairs of hosts together
constexpr std::size_t fewest_pieces = 16;          // of one pair
constexpr std::size_t memory_of_blocks = 32 << 20; // merging needs little memory

std::size_t most_pieces_of_pair(std::size_t pairs)
{
    return std::max(most_pieces / std::max<std::size_t>(pairs, 1), fewest_pieces);
}

Selection all_states()
{
    Selection all;
    all.unfinished = true;
    return all;
}

/// Whether nobody is done before those whom he waits for have come. Where members have parts of their own,
/// these may be empty, and nobody waits for them.
bool all_need_each_other(const Collective& collective, const CallFacts& call)
{
    const auto moves = [](const CollectiveCall& one) { return one.bytes > 0; };
    return collective.communicator && std::ssize(collective.calls) == collective.communicator->size() &&
           !collective.communicator->is_inter() &&
           std::ranges::none_of(collective.calls, &CollectiveCall::has_failed) &&
           (call.collective == CollectiveKind::barrier ||
            (!call.scatters && !call.gathers && std::ranges::all_of(collective.calls, moves)));
}

/// What the shares know together.
struct Together {
    const OpenedProject& project;
    const ProcessShares& shares;
    std::unordered_map<std::int64_t, HostNumber> host_of; ///< by rank
    std::size_t host_count = 0;
    Handover<SendingStep> sends;
    Handover<JoiningCall> calls;
};

/// Each message is looked at where it is received, and a collective operation where the communicator's first
/// member is.
class HostShare : public ProcessShare, EventVisitor {
  public:
    using Pairs = std::map<HostOrders::Pair, ClockOrders>;

    HostShare(Together& together, std::size_t number)
        : m_together(together), m_number(number), m_lives(together.host_count),
          m_messages(together.project.objects, [this](const Message& message) { add_message(message); }),
          m_collectives(
              together.project.objects, [this](const Collective& collective) { add_collective(collective); },
              together.project.ranks_without_traces()),
          m_walk({this, &m_messages})
    {
        const auto share_of = [this](std::int64_t rank) { return m_together.shares.share_of(rank); };
        m_messages.leave_elsewhere([=, this](std::int64_t rank) { return share_of(rank) != m_number; },
                                   [=, this](const SendingStep& step) {
                                       m_together.sends.give(m_number, share_of(step.destination), step);
                                   });
    }

    void add(const TraceFile& trace, const State& state) override { m_walk.add(trace, state); }

    void take_over() override
    {
        m_together.sends.take(m_number, [this](const SendingStep& step) { m_messages.take(step); });
        m_together.calls.take(m_number, [this](JoiningCall&& call) { m_collectives.put(std::move(call)); });
    }

    const std::vector<HostOrders::Life>& lives() const { return m_lives; }
    const Pairs& pairs() const { return m_pairs; }

  private:
    void enter(const Call& call) override;
    void joined(const Call& call) override;
    void add_message(const Message& message);
    void add_collective(const Collective& collective);
    void add_all(const Collective& collective);
    void add(std::int64_t rank, std::int64_t before, std::int64_t other_rank, std::int64_t after);
    void add(HostNumber host, std::int64_t before, HostNumber other, std::int64_t after);

    Together& m_together;
    std::size_t m_number;
    std::vector<HostOrders::Life> m_lives;
    Pairs m_pairs;
    MessageMatcher m_messages;
    CollectiveMatcher m_collectives;
    EventWalk m_walk;
};

void HostShare::enter(const Call& call)
{
    if (call.nesting > 0)
        return;
    HostOrders::Life& life = m_lives[m_together.host_of.at(call.trace.rank)];
    life.begin = std::min(life.begin, call.state.time);
    life.end = std::max(life.end, call.state.end);
}

void HostShare::joined(const Call& call)
{
    std::optional<JoiningCall> joining = m_collectives.read(call);
    if (!joining)
        return;
    const std::vector<Communicator::Member>& members = joining->object.communicator->members;
    const std::size_t to = members.empty() ? m_number : m_together.shares.share_of(members.front().global);
    m_together.calls.give(m_number, to, std::move(*joining));
}

void HostShare::add_message(const Message& message)
{
    if (!message.send || !message.receive)
        return;
    if (message.receive->end_is_known)
        add(message.source, message.send->time, message.destination, message.receive->end);
    if (message.send->waits_for_receive)
        add(message.destination, message.receive->time, message.source, message.send->end);
}

void HostShare::add_collective(const Collective& collective)
{
    const CallFacts& call = facts_of(std::string_view(collective.calls.front().name));
    const auto kind = wait_kind_of(call);
    if (!kind || call.progress != CallProgress::blocking || facts_of(*kind).may_return_early ||
        !all_need_each_other(collective, call))
        return;
    const Awaited awaited = facts_of(*kind).awaited;
    if (awaited == Awaited::all)
        return add_all(collective);
    const auto root = std::ranges::find_if(collective.calls, [&](const CollectiveCall& one) {
        return one.rank == collective.calls.front().root;
    });
    if (root == collective.calls.end() || (awaited != Awaited::root && awaited != Awaited::others))
        return;
    for (const CollectiveCall& one : collective.calls) {
        if (awaited == Awaited::root)
            add(root->rank, root->start, one.rank, one.end);
        else
            add(one.rank, one.start, root->rank, root->end);
    }
}

// Of each host only the last one that comes and the first one that leaves tell something, and hosts are only
// compared with the first one there: else each operation would be as much work as there are pairs.
void HostShare::add_all(const Collective& collective)
{
    struct Host {
        std::int64_t comes, leaves;
    };
    std::map<HostNumber, Host> hosts;
    for (const CollectiveCall& call : collective.calls) {
        const auto [known, is_new] =
            hosts.try_emplace(m_together.host_of.at(call.rank), call.start, call.end);
        known->second.comes = std::max(known->second.comes, call.start);
        known->second.leaves = std::min(known->second.leaves, call.end);
    }
    const auto& [first, of_first] = *hosts.begin();
    for (auto other = std::next(hosts.begin()); other != hosts.end(); ++other) {
        add(first, of_first.comes, other->first, other->second.leaves);
        add(other->first, other->second.comes, first, of_first.leaves);
    }
}

void HostShare::add(std::int64_t rank, std::int64_t before, std::int64_t other_rank, std::int64_t after)
{
    const auto& hosts = m_together.host_of;
    const auto host = hosts.find(rank), other = hosts.find(other_rank);
    if (host != hosts.end() && other != hosts.end())
        add(host->second, before, other->second, after);
}

void HostShare::add(HostNumber host, std::int64_t before, HostNumber other, std::int64_t after)
{
    if (host == other)
        return;
    ClockOrders& orders = m_pairs[{host, other}];
    const std::size_t pairs_of_all = m_pairs.size() * m_together.shares.count(); // if all have as many
    orders.add({before, after}, most_pieces_of_pair(pairs_of_all));
}

void put_together(HostOrders& found, const std::deque<HostShare>& shares)
{
    HostShare::Pairs pairs;
    for (const HostShare& share : shares) {
        for (std::size_t host = 0; host < found.lives.size(); ++host) {
            found.lives[host].begin = std::min(found.lives[host].begin, share.lives()[host].begin);
            found.lives[host].end = std::max(found.lives[host].end, share.lives()[host].end);
        }
        for (const auto& [hosts, orders] : share.pairs())
            pairs[hosts].add(orders);
    }
    for (auto& [hosts, orders] : pairs)
        found.orders[hosts] = orders.take(most_pieces_of_pair(pairs.size()));
}

} // namespace

std::vector<std::string> hosts_of(const OpenedProject& project)
{
    std::set<std::string> known;
    std::vector<std::string> hosts;
    for (const TraceFile& trace : project.traces)
        if (std::string host = host_of(project.project, trace.labels); known.insert(host).second)
            hosts.push_back(std::move(host));
    return hosts;
}

HostOrders find_host_orders(const OpenedProject& project, unsigned threads)
{
    HostOrders found;
    found.hosts = hosts_of(project);
    found.lives.resize(found.hosts.size());
    std::map<std::string, HostNumber> numbers;
    for (const std::string& host : found.hosts)
        numbers.try_emplace(host, static_cast<HostNumber>(numbers.size()));

    ProcessShares processes(project.existing_traces(), threads);
    Together together{project,
                      processes,
                      {},
                      found.hosts.size(),
                      Handover<SendingStep>(processes.count()),
                      Handover<JoiningCall>(processes.count())};
    for (const TraceFile& trace : project.traces)
        together.host_of.try_emplace(trace.rank, numbers.at(host_of(project.project, trace.labels)));
    std::deque<HostShare> shares;
    std::vector<ProcessShare*> readers;
    for (std::size_t i = 0; i < processes.count(); ++i)
        readers.push_back(&shares.emplace_back(together, i));
    try {
        processes.read(readers, all_states(), memory_of_blocks);
    } catch (const ReadError&) {
        // Whoever wants to know what is in the traces is told.
    }
    put_together(found, shares);
    return found;
}

} // namespace hdtrace
