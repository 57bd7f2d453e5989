#include "merger/export/tit/collectives.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "merger/export/tit/actions.h"

namespace hdtrace::exporter {

namespace {

/// What stands behind an action of the replay; all counts come first.
enum class Arguments {
    none,
    size_root,
    size_operations_root,
    size_operations,
    sizes_root,
    sizes,
    parts_operations,
    part_parts
};

/// How MPI libraries do it with messages between two processes.
enum class Rounds { pairs, dissemination, tree_from_root, tree_to_root, tree_to_all, chain };

struct ReplayRow {
    std::string_view operation;
    std::string_view action; ///< empty: the replay lacks it, or not all members know what it needs
    Arguments arguments = Arguments::none;
    Rounds rounds = Rounds::pairs;
};

/// Those that are not done in pairs, and those that the replay has.
constexpr ReplayRow rows[] = {
    {"Barrier", "barrier", Arguments::none, Rounds::dissemination},
    {"Bcast", "bcast", Arguments::size_root, Rounds::tree_from_root},
    {"Reduce", "reduce", Arguments::size_operations_root, Rounds::tree_to_root},
    {"Allreduce", "allreduce", Arguments::size_operations, Rounds::tree_to_all},
    {"Scan", "scan", Arguments::size_operations, Rounds::chain},
    {"Exscan", "exscan", Arguments::size_operations, Rounds::chain},
    {"Gather", "gather", Arguments::sizes_root},
    {"Scatter", "scatter", Arguments::sizes_root},
    {"Allgather", "allgather", Arguments::sizes},
    {"Alltoall", "alltoall", Arguments::sizes},
    {"Allgatherv", "allgatherv", Arguments::part_parts},
    {"Reduce_scatter", "reducescatter", Arguments::parts_operations},
};
constexpr ReplayRow as_pairs = {};

const ReplayRow& row_of(const Operation& operation)
{
    const auto found = std::ranges::find(rows, operation.facts->operation, &ReplayRow::operation);
    return found == std::end(rows) ? as_pairs : *found;
}

/// Trees over the members, beginning with `root`.
class Tree {
  public:
    Tree(const Members& members, std::size_t root, std::int64_t size)
        : m_members(members), m_count(members.ranks.size()), m_root(root), m_size(size),
          m_place((members.me + m_count - root) % m_count)
    {
    }

    void spread(std::vector<Exchange>& rounds) const
    {
        for (std::size_t mask = 1; mask < m_count; mask *= 2)
            add(rounds, mask, &Exchange::sends, &Exchange::receives);
    }

    void collect(std::vector<Exchange>& rounds) const
    {
        std::size_t mask = 1;
        while (mask < m_count)
            mask *= 2;
        while (mask /= 2)
            add(rounds, mask, &Exchange::receives, &Exchange::sends);
    }

  private:
    using Side = std::vector<Volume> Exchange::*;

    void add(std::vector<Exchange>& rounds, std::size_t mask, Side upper, Side lower) const
    {
        Exchange& round = rounds.emplace_back();
        if (m_place < mask && m_place + mask < m_count)
            (round.*upper).push_back(with(m_place + mask));
        else if (m_place >= mask && m_place < 2 * mask)
            (round.*lower).push_back(with(m_place - mask));
    }

    Volume with(std::size_t place) const { return {m_members.ranks[(place + m_root) % m_count], m_size}; }

    const Members& m_members;
    std::size_t m_count;
    std::size_t m_root;
    std::int64_t m_size;
    std::size_t m_place;
};

void add_barrier(std::vector<Exchange>& rounds, const Members& members)
{
    const std::size_t count = members.ranks.size();
    for (std::size_t distance = 1; distance < count; distance *= 2)
        rounds.push_back({{{members.ranks[(members.me + distance) % count], 0}},
                          {{members.ranks[(members.me + count - distance) % count], 0}}});
}

void add_chain(std::vector<Exchange>& rounds, const Members& members, std::int64_t size)
{
    if (members.me > 0)
        rounds.push_back({{}, {{members.ranks[members.me - 1], size}}});
    if (members.me + 1 < members.ranks.size())
        rounds.push_back({{{members.ranks[members.me + 1], size}}, {}});
}

/// In each round everyone has at most one to send to and one to receive from.
void add_pairs(std::vector<Exchange>& rounds, const Members& members, const Exchange& messages)
{
    const std::size_t count = members.ranks.size();
    std::map<std::int64_t, std::size_t> places;
    for (std::size_t i = 0; i < count; ++i)
        places[members.ranks[i]] = i;
    rounds.resize(count);
    for (const Volume& volume : messages.sends)
        rounds[(places[volume.rank] + count - members.me) % count].sends.push_back(volume);
    for (const Volume& volume : messages.receives)
        rounds[(members.me + count - places[volume.rank]) % count].receives.push_back(volume);
}

std::size_t root_place(const Operation& operation, const Members& members)
{
    const auto root = std::ranges::find(members.ranks, root_of(*operation.call));
    return static_cast<std::size_t>(root - members.ranks.begin());
}

/// The members are all processes.
std::vector<std::int64_t> sizes_by_rank(const Operation& operation, const Members& members)
{
    std::vector<std::int64_t> sizes(members.ranks.size(), 0);
    for (const Volume& volume : volumes(*operation.children, "Recv")) {
        if (volume.rank >= 0 && static_cast<std::size_t>(volume.rank) < sizes.size())
            sizes[static_cast<std::size_t>(volume.rank)] = volume.size;
    }
    return sizes;
}

bool has_list_of_parts(Arguments form)
{
    return form == Arguments::parts_operations || form == Arguments::part_parts;
}

std::vector<std::int64_t> arguments_of(const Operation& operation, Arguments form, const Members& members)
{
    constexpr std::int64_t byte = ReplayActions::bytes;
    constexpr std::int64_t no_operations = 0;
    const Element& call = *operation.call;
    const std::int64_t root = call.integer("rootRank").value_or(0);
    switch (form) {
    case Arguments::none:
        return {};
    case Arguments::size_root:
        return {size_of(call), root, byte};
    case Arguments::size_operations_root:
        return {size_of(call), no_operations, root, byte};
    case Arguments::size_operations:
        return {size_of(call), no_operations, byte};
    case Arguments::sizes_root:
        return {sent_size(call), received_size(call), root, byte, byte};
    case Arguments::sizes:
        return {sent_size(call), received_size(call), byte, byte};
    case Arguments::parts_operations:
    case Arguments::part_parts:
        break;
    }
    std::vector<std::int64_t> all = sizes_by_rank(operation, members);
    if (form == Arguments::parts_operations) {
        all.insert(all.end(), {no_operations, byte});
    } else {
        all.insert(all.begin(), all[static_cast<std::size_t>(members.ranks[members.me])]);
        all.insert(all.end(), {byte, byte});
    }
    return all;
}

/// Whether the replay multiplies what it is told by the number of processes.
bool has_parts(Arguments form)
{
    return form == Arguments::sizes_root || form == Arguments::sizes || has_list_of_parts(form);
}

} // namespace

std::optional<std::vector<Exchange>> message_rounds(const Operation& operation, const Members& members)
{
    const std::optional<Exchange> messages = direct_messages(operation, members);
    if (!messages)
        return std::nullopt;
    std::vector<Exchange> rounds;
    const std::int64_t size = size_of(*operation.call);
    switch (row_of(operation).rounds) {
    case Rounds::dissemination:
        add_barrier(rounds, members);
        break;
    case Rounds::tree_from_root:
        Tree(members, root_place(operation, members), size).spread(rounds);
        break;
    case Rounds::tree_to_root:
        Tree(members, root_place(operation, members), size).collect(rounds);
        break;
    case Rounds::tree_to_all:
        Tree(members, 0, size).collect(rounds);
        Tree(members, 0, size).spread(rounds);
        break;
    case Rounds::chain:
        add_chain(rounds, members, size);
        break;
    case Rounds::pairs:
        add_pairs(rounds, members, *messages);
        break;
    }
    return rounds;
}

bool moves_nothing(const Operation& operation, const Members& members)
{
    const ReplayRow& row = row_of(operation);
    if (row.action.empty() || row.arguments == Arguments::none || !tells_messages(operation, members))
        return false;
    if (has_list_of_parts(row.arguments))
        return volumes(*operation.children, "Recv").empty();
    return sent_size(*operation.call) <= 0 && received_size(*operation.call) <= 0;
}

std::optional<ReplayCollective> replay_collective(const Operation& operation, const Members& members)
{
    const ReplayRow& row = row_of(operation);
    if (row.action.empty() || !tells_messages(operation, members))
        return std::nullopt;
    // The ranks of all, in the order of the replay's one communicator.
    if (row.rounds == Rounds::chain && !std::ranges::is_sorted(members.ranks))
        return std::nullopt;
    std::vector<std::int64_t> arguments = arguments_of(operation, row.arguments, members);
    const std::int64_t most =
        has_parts(row.arguments) ? ReplayActions::most_bytes / static_cast<std::int64_t>(members.ranks.size())
                                 : ReplayActions::most_bytes;
    if (!arguments.empty() && std::ranges::max(arguments) > most)
        return std::nullopt;
    return ReplayCollective{std::string(row.action), std::move(arguments)};
}

} // namespace hdtrace::exporter
