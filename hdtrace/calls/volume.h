// volume.h - how many bytes a call moves, by what its arguments say: for readers of traces, and for the
// wrapper, which adds them up itself (--statistics-only). Needs nothing of the C++ run-time library.
#pragma once

#include <cstdint>
#include <optional>

#include "hdtrace/calls/facts.h"
#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/matching/saturated.h"

namespace hdtrace {

/// In the wrapper the facts are constants, and nothing is left of what they rule out.
#define HDT_FOLDED [[gnu::always_inline]]

/// Bytes that a call takes from the process and brings to it, by the counts and datatypes of its arguments:
///
/// - A message: what is sent, and what is received; nothing to and from `MPI_PROC_NULL`.
/// - A collective operation: what the process gives to it and gets out of it. Where each member has a part of
///   its own (`Scatter`, `Allgather`, `Alltoall`, ...), the parts of all members together, also its own one,
///   but no part that stays in its place (`MPI_IN_PLACE`). Reductions: what is reduced once, and the result.
///   Neighbours are members; those that are `MPI_PROC_NULL` have no part.
/// - An access to a file or to a window: what is written is sent, what is read is received.
///
/// What does not block counts where it is started, with what was asked for; what is prepared (`Send_init`)
/// counts at each start. But what comes is not known then of a receive, nor what an access to a file will
/// transfer: `posted` is what was asked for, and Arrivals (matching/arrivals.h) tells what was moved. A call
/// that failed moves nothing. Sums stop at the largest number.
struct Volume {
    std::int64_t sent = 0;
    std::int64_t received = 0;
    std::int64_t posted = 0;

    HDT_FOLDED constexpr std::int64_t moved() const { return saturated_sum(sent, received); }

    constexpr Volume& operator+=(const Volume& other)
    {
        sent = saturated_sum(sent, other.sent);
        received = saturated_sum(received, other.received);
        posted = saturated_sum(posted, other.posted);
        return *this;
    }
};

/// The parts of the members that a call lists, `Send` or `Recv`.
struct ListedParts {
    std::int64_t own = 0; ///< what the process gives to itself
    std::int64_t of_others = 0;

    constexpr void add(std::int64_t member, std::int64_t own_rank, std::int64_t size)
    {
        if (member == proc_null) // a neighbour beyond the border
            return;
        std::int64_t& part = member == own_rank ? own : of_others;
        part = saturated_sum(part, size > 0 ? size : 0);
    }
    HDT_FOLDED constexpr std::int64_t all(bool but_own) const
    {
        return but_own ? of_others : saturated_sum(own, of_others);
    }
};

/// Whether such an access moves data.
constexpr bool transfers(FileAccess access)
{
    return access == FileAccess::read || access == FileAccess::write;
}

/// Whether a call of that kind moves data.
constexpr bool exchanges_data(CollectiveKind kind)
{
    return kind == CollectiveKind::one_to_all || kind == CollectiveKind::all_to_one ||
           kind == CollectiveKind::all_to_all || kind == CollectiveKind::scan ||
           kind == CollectiveKind::neighbourhood;
}

namespace detail {

using Bytes = std::optional<std::int64_t>;

HDT_FOLDED constexpr std::int64_t bytes_or(const Bytes& bytes, std::int64_t otherwise)
{
    return !bytes ? otherwise : *bytes > 0 ? *bytes : 0;
}

// What one process gives to a collective operation and gets out of it.
template <class Arguments> class CollectiveVolume {
  public:
    HDT_FOLDED constexpr CollectiveVolume(const CallFacts& facts, const Arguments& call)
        : m_facts(facts), m_call(call), m_in_place(call.is_in_place()), m_root(call.root())
    {
        const Bytes sent = call.size(), received = call.received_size();
        m_sent = bytes_or(sent, bytes_or(received, 0)); // one of both may be left out
        m_received = bytes_or(received, m_sent);
    }

    // Only of an operation that exchanges_data().
    HDT_FOLDED constexpr Volume get() const
    {
        switch (m_facts.collective) {
        case CollectiveKind::one_to_all:
            return from_root();
        case CollectiveKind::all_to_one:
            return to_root();
        case CollectiveKind::all_to_all:
            return {sent_to_all(), received_from_all()};
        case CollectiveKind::neighbourhood:
            return {sent_to_neighbours(), received_from_neighbours()};
        default: // scan
            return {m_sent, m_facts.exclusive && m_call.is_first() ? 0 : m_received};
        }
    }

  private:
    HDT_FOLDED constexpr std::int64_t own_part() const { return m_call.listed_receives().own; }
    // Of all members, but what stays in its place.
    HDT_FOLDED constexpr std::int64_t parts(std::int64_t size) const
    {
        const std::int64_t members = m_call.partners() - (m_in_place ? 1 : 0);
        return saturated_product(size, members > 0 ? members : 0);
    }

    HDT_FOLDED constexpr Volume from_root() const
    {
        if (m_root == proc_null)
            return {};
        if (m_root != m_call.rank() && m_root != mpi_root)
            return {0, m_received};
        const std::int64_t sent = m_facts.lists_sends ? m_call.listed_sends().all(m_in_place)
                                  : m_facts.scatters  ? parts(m_sent)
                                                      : m_sent;
        const bool keeps_a_part = m_facts.scatters && !m_in_place && m_root == m_call.rank();
        return {sent, keeps_a_part ? m_received : 0};
    }

    HDT_FOLDED constexpr Volume to_root() const
    {
        if (m_root == proc_null)
            return {};
        if (m_root != m_call.rank() && m_root != mpi_root)
            return {m_sent, 0};
        const std::int64_t received = m_facts.lists_receives ? m_call.listed_receives().all(m_in_place)
                                      : m_facts.gathers      ? parts(m_received)
                                                             : m_received;
        const bool gives_a_part = m_root == m_call.rank() && !(m_facts.gathers && m_in_place);
        return {gives_a_part ? m_sent : 0, received};
    }

    HDT_FOLDED constexpr std::int64_t sent_to_all() const
    {
        const bool exchanges_in_place = m_in_place && m_facts.gathers;
        if (m_facts.lists_sends)
            return exchanges_in_place ? m_call.listed_receives().all(true) : m_call.listed_sends().all(false);
        if (m_facts.lists_receives && m_facts.reduces)
            return m_call.listed_receives().all(false);
        // What is reduced has a part for each member of the own group.
        if (m_facts.scatters && m_facts.reduces)
            return saturated_product(m_sent, m_call.members());
        if (m_facts.scatters)
            return exchanges_in_place ? parts(m_sent) : saturated_product(m_sent, m_call.partners());
        return m_facts.lists_receives && m_in_place ? own_part() : m_sent;
    }

    HDT_FOLDED constexpr std::int64_t received_from_all() const
    {
        if (m_facts.lists_receives)
            return m_facts.reduces ? own_part() : m_call.listed_receives().all(m_in_place);
        return m_facts.gathers ? parts(m_received) : m_received;
    }

    HDT_FOLDED constexpr std::int64_t sent_to_neighbours() const
    {
        if (m_facts.lists_sends)
            return m_call.listed_sends().all(false);
        return m_facts.scatters ? saturated_product(m_sent, m_call.outdegree()) : m_sent;
    }

    HDT_FOLDED constexpr std::int64_t received_from_neighbours() const
    {
        return m_facts.lists_receives ? m_call.listed_receives().all(false)
                                      : saturated_product(m_received, m_call.indegree());
    }

    const CallFacts& m_facts;
    const Arguments& m_call;
    bool m_in_place;
    std::optional<std::int64_t> m_root;
    std::int64_t m_sent = 0, m_received = 0; // as the attributes tell
};

template <class Arguments>
HDT_FOLDED constexpr Volume message_volume(const CallFacts& facts, const Arguments& call)
{
    Volume volume;
    if (facts.sends != SendMode::none && call.receiver() != proc_null)
        volume.sent = bytes_or(call.message_sent(), 0);
    if (facts.receives != ReceiveKind::none && call.sender() != proc_null)
        (facts.progress == CallProgress::blocking ? volume.received : volume.posted) =
            bytes_or(call.message_received(), 0);
    return volume;
}

template <class Arguments>
HDT_FOLDED constexpr Volume access_volume(const CallFacts& facts, const Arguments& call)
{
    const bool puts = facts.access != WindowAccess::get;
    const bool gets = facts.access != WindowAccess::put && facts.access != WindowAccess::accumulate;
    const bool is_to_nobody = (puts ? call.receiver() : call.sender()) == proc_null;
    const std::int64_t size = is_to_nobody ? 0 : bytes_or(call.size(), 0);
    return {puts ? size : 0, gets ? bytes_or(call.received_size(), size) : 0};
}

} // namespace detail

/// What the arguments of a call say, whether it is prepared, started or done at once. Nothing if such calls
/// move no data, such as a `Barrier`. @p call answers what the attributes of its state say: receiver() and
/// sender() (`toRank`, `fromRank`), root() (`rootRank`), size(), received_size() (`recvSize`),
/// transferred_size() (`actual`), message_sent() and message_received() (those that the facts name), each if
/// it is there; is_in_place(), listed_sends() and listed_receives(); besides, rank() of the process,
/// partners(), with how many members it exchanges data, members() of its own group, is_first(), whether it is
/// the first of them, and indegree() and outdegree(), from and to how many neighbours data goes.
template <class Arguments>
HDT_FOLDED constexpr std::optional<Volume> volume_by(const CallFacts& facts, const Arguments& call)
{
    if (facts.sends != SendMode::none || facts.receives != ReceiveKind::none)
        return detail::message_volume(facts, call);
    if (facts.access != WindowAccess::none)
        return detail::access_volume(facts, call);
    if (facts.file != FileAccess::none) {
        if (!transfers(facts.file))
            return std::nullopt;
        const std::int64_t size = detail::bytes_or(call.transferred_size(), detail::bytes_or(call.size(), 0));
        if (facts.progress != CallProgress::blocking)
            return Volume{.posted = size};
        return facts.file == FileAccess::write ? Volume{.sent = size} : Volume{.received = size};
    }
    if (!exchanges_data(facts.collective)) // asked first, because the rest has to look for attributes
        return std::nullopt;
    return detail::CollectiveVolume<Arguments>(facts, call).get();
}

#undef HDT_FOLDED

} // namespace hdtrace
