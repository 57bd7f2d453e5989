#include "hdtrace/explaining/clock_orders.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "hdtrace/explaining/wait_kinds.h"
#include "hdtrace/format/merged_traces.h"

namespace hdtrace {
namespace {

constexpr std::size_t most_pieces = 1 << 18; // of all pairs of hosts together
constexpr std::size_t fewest_pieces = 16;    // of one pair
constexpr std::size_t compared_at_once = 32;
constexpr std::size_t memory_of_blocks =
    32 << 20; // merging needs little memory, and has no use for a second thread

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
    const auto moves = [](const CollectiveCall& one) { return one.bytes > 0 && !one.has_failed; };
    return collective.communicator && collective.calls.size() == collective.communicator->members.size() &&
           !collective.communicator->is_inter() &&
           (call.collective == CollectiveKind::barrier ||
            (!call.scatters && !call.gathers && std::ranges::all_of(collective.calls, moves)));
}

} // namespace

void ClockOrders::add(ClockOrder order, std::size_t most)
{
    const auto limit = [](std::int64_t& time) {
        time = std::clamp(time, -HostClock::latest, HostClock::latest);
    };
    limit(order.before);
    limit(order.after);
    Piece& piece = m_pieces[order.after >> m_shift];
    piece.orders.push_back(order);
    if (piece.orders.size() >= 2 * piece.kept + compared_at_once)
        thin_out(piece);
    while (m_pieces.size() > most)
        join_pieces();
}

// Between two clocks that run evenly only the hull's points can be the tightest ones.
void ClockOrders::thin_out(Piece& piece)
{
    std::ranges::sort(piece.orders, {},
                      [](const ClockOrder& order) { return std::pair(order.after, order.before); });
    std::vector<ClockOrder> hull;
    const auto is_below = [](const ClockOrder& a, const ClockOrder& b, const ClockOrder& c) {
        const auto slope = [](const ClockOrder& from, const ClockOrder& to) {
            return std::pair(static_cast<double>(to.before - from.before),
                             static_cast<double>(to.after - from.after));
        };
        const auto [ab_up, ab_on] = slope(a, b);
        const auto [ac_up, ac_on] = slope(a, c);
        return ab_up * ac_on <= ac_up * ab_on;
    };
    for (const ClockOrder& order : piece.orders) {
        while (hull.size() >= 2 && is_below(hull.end()[-2], hull.back(), order))
            hull.pop_back();
        hull.push_back(order);
    }
    piece.kept = hull.size();
    piece.orders = std::move(hull);
}

void ClockOrders::join_pieces()
{
    ++m_shift;
    std::map<std::int64_t, Piece> joined;
    for (auto& [number, piece] : m_pieces) {
        Piece& into = joined[number >> 1];
        into.orders.insert(into.orders.end(), piece.orders.begin(), piece.orders.end());
        into.kept += piece.kept;
    }
    m_pieces = std::move(joined);
}

std::vector<ClockOrder> ClockOrders::all() const
{
    std::vector<ClockOrder> all;
    for (const auto& [number, piece] : m_pieces)
        all.insert(all.end(), piece.orders.begin(), piece.orders.end());
    return all;
}

std::vector<std::string> hosts_of(const OpenedProject& project)
{
    std::set<std::string> known;
    std::vector<std::string> hosts;
    for (const TraceFile& trace : project.traces)
        if (std::string host = host_of(project.project, trace.labels); known.insert(host).second)
            hosts.push_back(std::move(host));
    return hosts;
}

ClockOrderFinder::ClockOrderFinder(const OpenedProject& project)
    : m_project(project),
      m_messages(project.objects, [this](const Message& message) { add_message(message); }),
      m_collectives(
          project.objects, [this](const Collective& collective) { add_collective(collective); },
          project.ranks_without_traces())
{
    m_found.hosts = hosts_of(project);
    m_found.lives.resize(m_found.hosts.size());
    std::map<std::string, HostNumber> numbers;
    for (const std::string& host : m_found.hosts)
        numbers.try_emplace(host, static_cast<HostNumber>(numbers.size()));
    for (const TraceFile& trace : project.traces)
        m_host_of.try_emplace(trace.rank, numbers.at(host_of(project.project, trace.labels)));
}

HostOrders ClockOrderFinder::find()
{
    MergedTraces states(m_project.existing_traces(), all_states(), memory_of_blocks);
    EventWalk walk({this, &m_messages, &m_collectives});
    try {
        while (const State* const state = states.next())
            walk.add(states.trace(), *state);
    } catch (const ReadError&) {
        // Whoever wants to know what is in the traces is told.
    }
    m_messages.finish();
    return std::move(m_found);
}

void ClockOrderFinder::enter(const Call& call)
{
    if (call.nesting > 0)
        return;
    HostOrders::Life& life = m_found.lives[m_host_of.at(call.trace.rank)];
    life.begin = std::min(life.begin, call.state.time);
    life.end = std::max(life.end, call.state.end);
}

void ClockOrderFinder::started(const Call&, const Operation& operation)
{
    if (operation.rid < 0 && operation.facts->sends == SendMode::synchronous)
        m_synchronous.emplace(operation.rank, operation.thread, operation.time);
}

void ClockOrderFinder::add_message(const Message& message)
{
    const bool is_synchronous =
        message.send && !m_synchronous.empty() &&
        m_synchronous.erase({message.source, message.send->thread, message.send->time}) > 0;
    if (!message.send || !message.receive)
        return;
    add(message.source, message.send->time, message.destination, message.receive->end);
    if (is_synchronous)
        add(message.destination, message.receive->time, message.source, message.send->end);
}

void ClockOrderFinder::add_collective(const Collective& collective)
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
void ClockOrderFinder::add_all(const Collective& collective)
{
    struct Host {
        std::int64_t comes, leaves;
    };
    std::map<HostNumber, Host> hosts;
    for (const CollectiveCall& call : collective.calls) {
        const auto [known, is_new] = hosts.try_emplace(m_host_of.at(call.rank), call.start, call.end);
        known->second.comes = std::max(known->second.comes, call.start);
        known->second.leaves = std::min(known->second.leaves, call.end);
    }
    const auto& [first, of_first] = *hosts.begin();
    for (auto other = std::next(hosts.begin()); other != hosts.end(); ++other) {
        add(first, of_first.comes, other->first, other->second.leaves);
        add(other->first, other->second.comes, first, of_first.leaves);
    }
}

void ClockOrderFinder::add(std::int64_t rank, std::int64_t before, std::int64_t other_rank,
                           std::int64_t after)
{
    const auto host = m_host_of.find(rank), other = m_host_of.find(other_rank);
    if (host != m_host_of.end() && other != m_host_of.end())
        add(host->second, before, other->second, after);
}

void ClockOrderFinder::add(HostNumber host, std::int64_t before, HostNumber other, std::int64_t after)
{
    if (host == other)
        return;
    ClockOrders& orders = m_found.orders[{host, other}];
    orders.add({before, after}, std::max(most_pieces / m_found.orders.size(), fewest_pieces));
}

} // namespace hdtrace
