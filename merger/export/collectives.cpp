#include "merger/export/collectives.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "merger/export/tit/actions.h"

namespace hdtrace::exporter {

namespace {

/// Who sends to whom.
enum class Pattern { everyone, from_root, to_root, upwards, listed_parts, listed };

struct Kind {
    std::string_view name;
    Pattern pattern;
    /// What the replay calls it; empty if it lacks it, or if not all members know what it needs.
    std::string_view action = {};
};

constexpr Kind kinds[] = {
    {"Barrier", Pattern::everyone, "barrier"},
    {"Bcast", Pattern::from_root, "bcast"},
    {"Gather", Pattern::to_root, "gather"},
    {"Gatherv", Pattern::to_root},
    {"Scatter", Pattern::from_root, "scatter"},
    {"Scatterv", Pattern::from_root},
    {"Allgather", Pattern::everyone, "allgather"},
    {"Allgatherv", Pattern::listed_parts, "allgatherv"},
    {"Alltoall", Pattern::everyone, "alltoall"},
    {"Alltoallv", Pattern::listed},
    {"Alltoallw", Pattern::listed},
    {"Reduce", Pattern::to_root, "reduce"},
    {"Allreduce", Pattern::everyone, "allreduce"},
    {"Reduce_scatter", Pattern::listed_parts, "reducescatter"},
    {"Reduce_scatter_block", Pattern::everyone},
    {"Scan", Pattern::upwards, "scan"},
    {"Exscan", Pattern::upwards, "exscan"},
    {"Neighbor_alltoallv", Pattern::listed},
    {"Neighbor_alltoallw", Pattern::listed},
};

const Kind* find_kind(std::string_view name)
{
    const auto found = std::ranges::find(kinds, name, &Kind::name);
    return found == std::end(kinds) ? nullptr : found;
}

std::int64_t rank_of(const Element& child)
{
    return child.integer("rank").value_or(-1);
}

std::int64_t size_of(const Element& element)
{
    return element.integer("size").value_or(0);
}

/// Where data goes out and comes in again, one of both may be left out.
std::int64_t sent_size(const Element& call)
{
    return call.integer("size").value_or(call.integer("recvSize").value_or(0));
}

std::int64_t received_size(const Element& call)
{
    return call.integer("recvSize").value_or(size_of(call));
}

std::vector<Volume> volumes(const std::vector<Element>& children, std::string_view name)
{
    std::vector<Volume> found;
    for (const Element& child : children) {
        if (child.name == name && size_of(child) > 0)
            found.push_back({rank_of(child), size_of(child)});
    }
    return found;
}

std::int64_t size_for(const std::vector<Volume>& volumes, std::int64_t rank)
{
    const auto found = std::ranges::find(volumes, rank, &Volume::rank);
    return found == volumes.end() ? 0 : found->size;
}

bool has_lists(const Kind& kind)
{
    return kind.pattern == Pattern::listed || kind.pattern == Pattern::listed_parts ||
           kind.name == "Gatherv" || kind.name == "Scatterv";
}

/// An operation of this communicator: `root` is one of its members.
class Direct {
  public:
    Direct(const CollectiveCall& call, const Kind& kind, const Members& members)
        : m_kind(kind), m_call(call.arguments), m_members(members), m_me(members.ranks[members.me]),
          m_root(call.arguments.integer("rootRank").value_or(-1))
    {
        if (call.children != nullptr) {
            m_sends = volumes(*call.children, "Send");
            m_receives = volumes(*call.children, "Recv");
        }
    }

    Exchange messages() const
    {
        Exchange all;
        for (std::size_t i = 0; i < m_members.ranks.size(); ++i) {
            if (i == m_members.me)
                continue;
            add(all, i);
        }
        return all;
    }

  private:
    void add(Exchange& all, std::size_t i) const
    {
        const std::int64_t other = m_members.ranks[i];
        switch (m_kind.pattern) {
        case Pattern::everyone:
            add(all.sends, other, sent_size(m_call));
            add(all.receives, other, received_size(m_call));
            break;
        case Pattern::from_root:
            if (m_me == m_root)
                add(all.sends, other, has_lists(m_kind) ? size_for(m_sends, other) : size_of(m_call));
            else if (other == m_root)
                add(all.receives, other, received_size(m_call));
            break;
        case Pattern::to_root:
            if (m_me == m_root)
                add(all.receives, other,
                    has_lists(m_kind) ? size_for(m_receives, other) : received_size(m_call));
            else if (other == m_root)
                add(all.sends, other, size_of(m_call));
            break;
        case Pattern::upwards:
            add(i > m_members.me ? all.sends : all.receives, other, size_of(m_call));
            break;
        case Pattern::listed_parts:
            add_part(all, other);
            break;
        case Pattern::listed:
            add(all.sends, other, size_for(m_sends.empty() ? m_receives : m_sends, other));
            add(all.receives, other, size_for(m_receives, other));
            break;
        }
    }

    /// Everyone's part goes to everyone, or everyone's part is put together for it.
    void add_part(Exchange& all, std::int64_t other) const
    {
        const std::int64_t mine = size_for(m_receives, m_me);
        const bool is_gathered = m_kind.name == "Allgatherv";
        add(all.sends, other, is_gathered ? mine : size_for(m_receives, other));
        add(all.receives, other, is_gathered ? size_for(m_receives, other) : mine);
    }

    /// Lists leave out those without data, on both sides.
    void add(std::vector<Volume>& volumes, std::int64_t other, std::int64_t size) const
    {
        if (size > 0 || !has_lists(m_kind))
            volumes.push_back({other, size});
    }

    const Kind& m_kind;
    const Element& m_call;
    const Members& m_members;
    std::int64_t m_me;
    std::int64_t m_root;
    std::vector<Volume> m_sends;
    std::vector<Volume> m_receives;
};

bool is_told(const CollectiveCall& call, const Kind* kind, const Members& members)
{
    if (kind == nullptr || (has_lists(*kind) && call.children == nullptr))
        return false;
    const bool has_root = kind->pattern == Pattern::from_root || kind->pattern == Pattern::to_root;
    return !has_root || std::ranges::find(members.ranks, call.arguments.integer("rootRank").value_or(-1)) !=
                            members.ranks.end();
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

std::size_t root_place(const CollectiveCall& call, const Members& members)
{
    const auto root = std::ranges::find(members.ranks, call.arguments.integer("rootRank").value_or(-1));
    return static_cast<std::size_t>(root - members.ranks.begin());
}

std::vector<std::int64_t> sizes_by_rank(const CollectiveCall& call, const Members& members)
{
    std::vector<std::int64_t> sizes(members.ranks.size(), 0);
    for (const Volume& volume : volumes(*call.children, "Recv")) {
        if (volume.rank >= 0 && static_cast<std::size_t>(volume.rank) < sizes.size())
            sizes[static_cast<std::size_t>(volume.rank)] = volume.size;
    }
    return sizes;
}

/// What stands behind the action; all counts come first.
std::vector<std::int64_t> replay_arguments(const CollectiveCall& call, const Members& members)
{
    constexpr std::int64_t byte = ReplayActions::bytes;
    constexpr std::int64_t no_operations = 0;
    const Element& arguments = call.arguments;
    const std::int64_t root = arguments.integer("rootRank").value_or(0);
    const std::string& kind = call.kind;
    if (kind == "Barrier")
        return {};
    if (kind == "Bcast")
        return {size_of(arguments), root, byte};
    if (kind == "Reduce")
        return {size_of(arguments), no_operations, root, byte};
    if (kind == "Allreduce" || kind == "Scan" || kind == "Exscan")
        return {size_of(arguments), no_operations, byte};
    if (kind == "Gather" || kind == "Scatter")
        return {sent_size(arguments), received_size(arguments), root, byte, byte};
    if (kind == "Allgather" || kind == "Alltoall")
        return {sent_size(arguments), received_size(arguments), byte, byte};
    std::vector<std::int64_t> all = sizes_by_rank(call, members);
    if (kind == "Reduce_scatter") {
        all.insert(all.end(), {no_operations, byte});
    } else { // Allgatherv
        all.insert(all.begin(), all[static_cast<std::size_t>(members.ranks[members.me])]);
        all.insert(all.end(), {byte, byte});
    }
    return all;
}

} // namespace

std::optional<Members> members_of(const Communicator* communicator, std::int64_t rank)
{
    if (communicator == nullptr)
        return std::nullopt;
    Members members;
    members.ranks.resize(communicator->members.size(), -1);
    for (const Communicator::Member& member : communicator->members) {
        const auto local = static_cast<std::size_t>(member.local);
        if (member.group || local >= members.ranks.size())
            return std::nullopt;
        members.ranks[local] = member.global;
    }
    const auto me = std::ranges::find(members.ranks, rank);
    members.me = static_cast<std::size_t>(me - members.ranks.begin());
    return me == members.ranks.end() ? std::nullopt : std::optional(members);
}

std::string collective_kind(std::string_view call)
{
    std::string kind(call.ends_with("_init") ? call.substr(0, call.size() - 5) : call);
    if (kind.size() > 1 && kind[0] == 'I' && std::islower(static_cast<unsigned char>(kind[1]))) {
        kind.erase(0, 1);
        kind[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(kind[0])));
    }
    return find_kind(kind) != nullptr ? kind : "";
}

std::optional<Exchange> direct_messages(const CollectiveCall& call, const Members& members)
{
    const Kind* kind = find_kind(call.kind);
    if (!is_told(call, kind, members))
        return std::nullopt;
    return Direct(call, *kind, members).messages();
}

std::optional<std::vector<Exchange>> message_rounds(const CollectiveCall& call, const Members& members)
{
    const std::optional<Exchange> messages = direct_messages(call, members);
    if (!messages)
        return std::nullopt;
    std::vector<Exchange> rounds;
    const std::int64_t size = size_of(call.arguments);
    if (call.kind == "Barrier") {
        add_barrier(rounds, members);
    } else if (call.kind == "Bcast") {
        Tree(members, root_place(call, members), size).spread(rounds);
    } else if (call.kind == "Reduce") {
        Tree(members, root_place(call, members), size).collect(rounds);
    } else if (call.kind == "Allreduce") {
        Tree(members, 0, size).collect(rounds);
        Tree(members, 0, size).spread(rounds);
    } else if (call.kind == "Scan" || call.kind == "Exscan") {
        add_chain(rounds, members, size);
    } else {
        add_pairs(rounds, members, *messages);
    }
    return rounds;
}

std::optional<ReplayCollective> replay_collective(const CollectiveCall& call, const Members& members)
{
    const Kind* kind = find_kind(call.kind);
    if (!is_told(call, kind, members) || kind->action.empty())
        return std::nullopt;
    std::vector<std::int64_t> arguments = replay_arguments(call, members);
    const bool has_parts = kind->pattern == Pattern::listed_parts || call.kind == "Gather" ||
                           call.kind == "Scatter" || call.kind == "Allgather" || call.kind == "Alltoall";
    const std::int64_t most =
        has_parts ? ReplayActions::most_bytes / static_cast<std::int64_t>(members.ranks.size())
                  : ReplayActions::most_bytes;
    if (!arguments.empty() && std::ranges::max(arguments) > most)
        return std::nullopt;
    return ReplayCollective{std::string(kind->action), std::move(arguments)};
}

} // namespace hdtrace::exporter
