#include "merger/export/collectives.h"

#include <algorithm>

#include "hdtrace/matching/saturated.h"

namespace hdtrace::exporter {

namespace {

/// Who sends to whom.
enum class Pattern { unknown, everyone, from_root, to_root, upwards, listed_parts, listed };

Pattern pattern_of(const CallFacts& facts)
{
    switch (facts.collective) {
    case CollectiveKind::one_to_all:
        return Pattern::from_root;
    case CollectiveKind::all_to_one:
        return Pattern::to_root;
    case CollectiveKind::scan:
        return Pattern::upwards;
    case CollectiveKind::barrier:
    case CollectiveKind::all_to_all:
        return facts.lists_sends      ? Pattern::listed
               : facts.lists_receives ? Pattern::listed_parts
                                      : Pattern::everyone;
    case CollectiveKind::neighbourhood: // who they are is told by lists alone
        return facts.lists_sends && facts.lists_receives ? Pattern::listed : Pattern::unknown;
    default:
        return Pattern::unknown;
    }
}

bool has_lists(const CallFacts& facts)
{
    return facts.lists_sends || facts.lists_receives;
}

std::int64_t rank_of(const Element& child)
{
    return child.integer("rank").value_or(-1);
}

/// In the order of the ranks.
std::vector<Volume> sorted_volumes(const Operation& operation, std::string_view name)
{
    std::vector<Volume> found;
    if (operation.children != nullptr)
        found = volumes(*operation.children, name);
    std::ranges::stable_sort(found, {}, &Volume::rank);
    return found;
}

/// In place everyone sends as much as he receives, where both are listed (MPI 4.1, 6.8).
std::vector<Volume> sorted_sends(const Operation& operation)
{
    const bool is_in_place = operation.facts->lists_receives && operation.call->has("inPlace");
    return sorted_volumes(operation, is_in_place ? "Recv" : "Send");
}

std::int64_t size_for(const std::vector<Volume>& sorted, std::int64_t rank)
{
    const auto found = std::ranges::lower_bound(sorted, rank, {}, &Volume::rank);
    return found == sorted.end() || found->rank != rank ? 0 : found->size;
}

std::int64_t sum_of_others(const std::vector<Volume>& volumes, std::int64_t my_rank)
{
    std::int64_t sum = 0;
    for (const Volume& volume : volumes)
        sum = saturated_sum(sum, volume.rank == my_rank ? 0 : volume.size);
    return sum;
}

std::int64_t times(std::int64_t size, std::int64_t count)
{
    return saturated_product(std::max<std::int64_t>(0, size), count);
}

/// An operation of this communicator: `root` is one of its members.
class Direct {
  public:
    Direct(const Operation& operation, const Members& members)
        : m_facts(*operation.facts), m_pattern(pattern_of(m_facts)), m_call(*operation.call),
          m_members(members), m_me(members.ranks[members.me]), m_root(root_of(m_call)),
          m_size(size_of(m_call)), m_sent(sent_size(m_call)), m_received(received_size(m_call)),
          m_sends(sorted_sends(operation)), m_receives(sorted_volumes(operation, "Recv"))
    {
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
        switch (m_pattern) {
        case Pattern::everyone:
            add(all.sends, other, m_sent);
            add(all.receives, other, m_received);
            break;
        case Pattern::from_root:
            if (m_me == m_root)
                add(all.sends, other, has_lists(m_facts) ? size_for(m_sends, other) : m_size);
            else if (other == m_root)
                add(all.receives, other, m_received);
            break;
        case Pattern::to_root:
            if (m_me == m_root)
                add(all.receives, other, has_lists(m_facts) ? size_for(m_receives, other) : m_received);
            else if (other == m_root)
                add(all.sends, other, m_size);
            break;
        case Pattern::upwards:
            add(i > m_members.me ? all.sends : all.receives, other, m_size);
            break;
        case Pattern::unknown:
            break;
        case Pattern::listed_parts:
            add_part(all, other);
            break;
        case Pattern::listed:
            add(all.sends, other, size_for(m_sends, other));
            add(all.receives, other, size_for(m_receives, other));
            break;
        }
    }

    /// Everyone's part goes to everyone, or everyone's part is put together for it.
    void add_part(Exchange& all, std::int64_t other) const
    {
        const std::int64_t mine = size_for(m_receives, m_me);
        const bool is_gathered = !m_facts.reduces;
        add(all.sends, other, is_gathered ? mine : size_for(m_receives, other));
        add(all.receives, other, is_gathered ? size_for(m_receives, other) : mine);
    }

    /// Lists leave out those without data, on both sides.
    void add(std::vector<Volume>& volumes, std::int64_t other, std::int64_t size) const
    {
        if (size > 0 || !has_lists(m_facts))
            volumes.push_back({other, size});
    }

    const CallFacts& m_facts;
    Pattern m_pattern;
    const Element& m_call;
    const Members& m_members;
    std::int64_t m_me;
    std::int64_t m_root;
    std::int64_t m_size, m_sent, m_received; ///< that the call names
    std::vector<Volume> m_sends;
    std::vector<Volume> m_receives;
};

bool tells_pattern(const Operation& operation)
{
    const CallFacts& facts = *operation.facts;
    return pattern_of(facts) != Pattern::unknown && (!has_lists(facts) || operation.children != nullptr);
}

} // namespace

std::optional<Members> members_of(const Communicator* communicator, std::int64_t rank)
{
    if (communicator == nullptr || !communicator->is_traced())
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

bool moves_data(const CallFacts& facts)
{
    return pattern_of(facts) != Pattern::unknown;
}

std::int64_t size_of(const Element& element)
{
    return element.integer("size").value_or(0);
}

// Where data goes out and comes in again, one of both may be left out.
std::int64_t sent_size(const Element& call)
{
    return call.integer("size").value_or(call.integer("recvSize").value_or(0));
}

std::int64_t received_size(const Element& call)
{
    return call.integer("recvSize").value_or(size_of(call));
}

std::int64_t root_of(const Element& call)
{
    return call.integer("rootRank").value_or(-1);
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

bool tells_messages(const Operation& operation, const Members& members)
{
    return tells_pattern(operation) &&
           (!operation.facts->has_root ||
            std::ranges::find(members.ranks, root_of(*operation.call)) != members.ranks.end());
}

std::optional<Exchange> direct_messages(const Operation& operation, const Members& members)
{
    if (!tells_messages(operation, members))
        return std::nullopt;
    return Direct(operation, members).messages();
}

std::optional<Bytes> direct_bytes(const Operation& operation, const Membership& membership)
{
    const CallFacts& facts = *operation.facts;
    if (!tells_pattern(operation) || (facts.has_root && !membership.has_root))
        return std::nullopt;
    const Element& call = *operation.call;
    const std::vector<Volume> sends = sorted_sends(operation);
    const std::vector<Volume> receives = sorted_volumes(operation, "Recv");
    const std::int64_t others = membership.size - 1, me = membership.my_rank;
    const std::int64_t got = sum_of_others(receives, me);
    const bool is_root = root_of(call) == me;
    switch (pattern_of(facts)) {
    case Pattern::everyone:
        return Bytes{times(sent_size(call), others), times(received_size(call), others)};
    case Pattern::from_root:
        if (!is_root)
            return Bytes{0, times(received_size(call), 1)};
        return Bytes{has_lists(facts) ? sum_of_others(sends, me) : times(size_of(call), others), 0};
    case Pattern::to_root:
        if (!is_root)
            return Bytes{times(size_of(call), 1), 0};
        return Bytes{0, has_lists(facts) ? got : times(received_size(call), others)};
    case Pattern::upwards:
        return Bytes{times(size_of(call), others - membership.me), times(size_of(call), membership.me)};
    case Pattern::listed_parts: {
        const std::int64_t parts = times(size_for(receives, me), others);
        return facts.reduces ? Bytes{got, parts} : Bytes{parts, got};
    }
    case Pattern::listed:
        return Bytes{sum_of_others(sends, me), got};
    case Pattern::unknown:
        break;
    }
    return std::nullopt;
}

} // namespace hdtrace::exporter
