#include "hdtrace/matching/volumes.h"

#include <algorithm>
#include <string_view>

#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/matching/saturated.h"

namespace hdtrace {
namespace {

std::optional<std::int64_t> bytes_in(const Element& element, const AttributeName& attribute)
{
    const auto bytes = element.integer(attribute);
    return bytes ? std::optional(std::max<std::int64_t>(*bytes, 0)) : std::nullopt;
}

/// The parts of the members in `Send` or `Recv` elements.
struct Parts {
    std::int64_t own = 0;
    std::int64_t of_others = 0;

    std::int64_t all(bool but_own) const { return but_own ? of_others : saturated_sum(own, of_others); }
};

Parts listed_parts(const State& call, std::string_view name, std::int64_t rank)
{
    Parts parts;
    for (const Element& child : call.children) {
        if (child.name != name)
            continue;
        std::int64_t& part = child.integer("rank") == rank ? parts.own : parts.of_others;
        part = saturated_sum(part, bytes_in(child, "size").value_or(0));
    }
    return parts;
}

/// With how many members one exchanges data: those of the communicator, or of the other group.
std::int64_t partner_count(const Communicator* communicator, std::int64_t rank)
{
    if (communicator == nullptr)
        return 1;
    const auto& members = communicator->members;
    if (members.empty() || !members.front().group) // all of an inter-communicator are in one of its groups
        return std::ssize(members);
    const auto me = std::ranges::find(members, rank, &Communicator::Member::global);
    return std::ranges::count_if(members, [&](const Communicator::Member& member) {
        return me == members.end() || member.group != me->group;
    });
}

bool exchanges_data(CollectiveKind kind)
{
    return kind == CollectiveKind::one_to_all || kind == CollectiveKind::all_to_one ||
           kind == CollectiveKind::all_to_all || kind == CollectiveKind::scan ||
           kind == CollectiveKind::neighbourhood;
}

/// What one process gives to a collective operation and gets out of it.
class CollectiveVolume {
  public:
    CollectiveVolume(const ObjectTable& objects, const Call& call)
        : m_facts(call.facts), m_call(call.state), m_rank(call.trace.rank),
          m_in_place(call.state.has("inPlace")), m_root(call.state.integer("rootRank"))
    {
        if (m_facts.scatters || m_facts.gathers)
            m_partners = partner_count(objects.communicator(m_rank, m_call), m_rank);
        const auto sent = bytes_in(m_call, "size"), received = bytes_in(m_call, "recvSize");
        m_sent = sent.value_or(received.value_or(0)); // one of both may be left out
        m_received = received.value_or(m_sent);
    }

    /// Only of an operation that exchanges_data().
    Volume get() const
    {
        switch (m_facts.collective) {
        case CollectiveKind::one_to_all:
            return from_root();
        case CollectiveKind::all_to_one:
            return to_root();
        case CollectiveKind::all_to_all:
            return {sent_to_all(), received_from_all()};
        case CollectiveKind::neighbourhood:
            return {m_facts.lists_sends ? listed("Send", false) : m_sent,
                    m_facts.lists_receives ? listed("Recv", false) : m_received};
        default: // scan
            return {m_sent, m_received};
        }
    }

  private:
    std::int64_t listed(std::string_view name, bool but_own) const
    {
        return listed_parts(m_call, name, m_rank).all(but_own);
    }
    std::int64_t own_part() const { return listed_parts(m_call, "Recv", m_rank).own; }
    /// Of all members, but what stays in its place.
    std::int64_t parts(std::int64_t size) const
    {
        return saturated_product(size, std::max<std::int64_t>(m_partners - m_in_place, 0));
    }

    Volume from_root() const
    {
        if (m_root == proc_null)
            return {};
        if (m_root != m_rank && m_root != mpi_root)
            return {0, m_received};
        const std::int64_t sent = m_facts.lists_sends ? listed("Send", m_in_place)
                                  : m_facts.scatters  ? parts(m_sent)
                                                      : m_sent;
        const bool keeps_a_part = m_facts.scatters && !m_in_place && m_root == m_rank;
        return {sent, keeps_a_part ? m_received : 0};
    }

    Volume to_root() const
    {
        if (m_root == proc_null)
            return {};
        if (m_root != m_rank && m_root != mpi_root)
            return {m_sent, 0};
        const std::int64_t received = m_facts.lists_receives ? listed("Recv", m_in_place)
                                      : m_facts.gathers      ? parts(m_received)
                                                             : m_received;
        const bool gives_a_part = m_root == m_rank && !(m_facts.gathers && m_in_place);
        return {gives_a_part ? m_sent : 0, received};
    }

    std::int64_t sent_to_all() const
    {
        const bool exchanges_in_place = m_in_place && m_facts.gathers;
        if (m_facts.lists_sends)
            return exchanges_in_place ? listed("Recv", true) : listed("Send", false);
        if (m_facts.lists_receives && m_facts.reduces)
            return listed("Recv", false);
        if (m_facts.scatters)
            return exchanges_in_place ? parts(m_sent) : saturated_product(m_sent, m_partners);
        return m_facts.lists_receives && m_in_place ? own_part() : m_sent;
    }

    std::int64_t received_from_all() const
    {
        if (m_facts.lists_receives)
            return m_facts.reduces ? own_part() : listed("Recv", m_in_place);
        return m_facts.gathers ? parts(m_received) : m_received;
    }

    const CallFacts& m_facts;
    const State& m_call;
    std::int64_t m_rank;
    bool m_in_place;
    std::optional<std::int64_t> m_root;
    std::int64_t m_partners = 1;
    std::int64_t m_sent = 0, m_received = 0; ///< as the attributes tell
};

std::int64_t message_size(const State& call, const AttributeName& peer, std::string_view size)
{
    if (call.integer(peer) == proc_null)
        return 0;
    // Most are called so, and to make a name of a text each time takes longer than to look it up.
    return (size == "size" ? bytes_in(call, "size") : bytes_in(call, size)).value_or(0);
}

Volume message_volume(const CallFacts& facts, const State& call)
{
    Volume volume;
    if (facts.sends != SendMode::none)
        volume.sent = message_size(call, "toRank", facts.sent_size);
    if (facts.receives != ReceiveKind::none)
        (facts.progress == CallProgress::blocking ? volume.received : volume.posted) =
            message_size(call, "fromRank", facts.received_size);
    return volume;
}

Volume access_volume(const CallFacts& facts, const State& call)
{
    const bool puts = facts.access != WindowAccess::get;
    const bool gets = facts.access != WindowAccess::put && facts.access != WindowAccess::accumulate;
    const std::int64_t size = message_size(call, puts ? "toRank" : "fromRank", "size");
    return {puts ? size : 0, gets ? bytes_in(call, "recvSize").value_or(size) : 0};
}

} // namespace

std::int64_t Volume::moved() const
{
    return saturated_sum(sent, received);
}

Volume& Volume::operator+=(const Volume& other)
{
    sent = saturated_sum(sent, other.sent);
    received = saturated_sum(received, other.received);
    posted = saturated_sum(posted, other.posted);
    return *this;
}

std::optional<Volume> volume_of(const ObjectTable& objects, const Call& call)
{
    const CallFacts& facts = call.facts;
    if (facts.sends != SendMode::none || facts.receives != ReceiveKind::none)
        return message_volume(facts, call.state);
    if (facts.access != WindowAccess::none)
        return access_volume(facts, call.state);
    if (facts.file != FileAccess::none) {
        const std::int64_t size =
            bytes_in(call.state, "actual").value_or(bytes_in(call.state, "size").value_or(0));
        if (!transfers(facts.file))
            return std::nullopt;
        if (facts.progress != CallProgress::blocking)
            return Volume{.posted = size};
        return facts.file == FileAccess::write ? Volume{.sent = size} : Volume{.received = size};
    }
    if (!exchanges_data(facts.collective)) // asked first, because the rest has to look for attributes
        return std::nullopt;
    return CollectiveVolume(objects, call).get();
}

std::int64_t bytes_of(const Call& call, const std::optional<Volume>& volume)
{
    if (volume)
        return volume->moved();
    return call.facts.call_class == CallClass::other ? bytes_in(call.state, "size").value_or(0) : 0;
}

std::optional<Volume> Volumes::of(const Call& call)
{
    const std::int64_t rank = call.trace.rank;
    if (call.facts.progress == CallProgress::activates)
        return call.has_failed() ? Volume() : of_started(rank, call.state);
    const auto request = [&] { return std::pair(rank, call.state.integer("rid").value_or(-1)); };
    if (call.facts.progress == CallProgress::releases)
        m_prepared.erase(request());
    const std::optional<Volume> volume = volume_of(m_objects, call);
    if (volume && call.has_failed())
        return Volume();
    if (call.facts.progress != CallProgress::prepares)
        return volume;
    if (volume)
        m_prepared[request()] = *volume;
    return std::nullopt;
}

std::optional<Volume> Volumes::of_started(std::int64_t rank, const State& call) const
{
    std::optional<Volume> started;
    const auto add = [&](const Element& start) {
        const auto prepared = m_prepared.find({rank, start.integer("initRid").value_or(-1)});
        if (prepared == m_prepared.end())
            return;
        started = started.value_or(Volume());
        *started += prepared->second;
    };
    add(call);
    for (const Element& child : call.children)
        add(child);
    return started;
}

} // namespace hdtrace
