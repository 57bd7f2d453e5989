#include "hdtrace/checking/waiting_creations.h"

#include "hdtrace/matching/rank_list.h"

namespace hdtrace {

std::optional<GroupMeetings::Meeting> GroupMeetings::meeting_of(std::int64_t rank, const State& call) const
{
    const auto group = call.find("group");
    // Members of worlds that the trace does not know are negative, and MPI_GROUP_NULL has none.
    if (!group || group->find_first_not_of("0123456789.;") != std::string_view::npos)
        return std::nullopt;
    const Communicator* const parent = m_objects.communicator(rank, call);
    return Meeting{parent, call.text(parent ? "tag" : "stringTag"), std::string(*group)};
}

void GroupMeetings::add(const Call& call)
{
    if (call.facts.members != CollectiveMembers::group || call.is_inside_call || call.has_failed())
        return;
    if (auto meeting = meeting_of(call.trace.rank, call.state))
        ++m_calls[std::move(*meeting)][call.trace.rank];
}

SharedRanks GroupMeetings::missing(std::int64_t rank, const State& unfinished, std::int64_t process_count)
{
    const auto meeting = meeting_of(rank, unfinished);
    const auto calls = meeting ? m_calls.find(*meeting) : m_calls.end();
    if (calls == m_calls.end())
        return {};
    const auto count_of = [&](std::int64_t member) {
        const auto found = calls->second.find(member);
        return found == calls->second.end() ? 0 : found->second;
    };
    const std::size_t own = count_of(rank);
    const auto [missing, is_new] = m_missing.try_emplace({*meeting, own});
    if (!is_new)
        return missing->second;
    SharedRanks::Ranks ranks;
    for (const std::int64_t member : ranks_in(meeting->group, process_count))
        if (count_of(member) < own)
            ranks.insert(member);
    missing->second = std::move(ranks);
    return missing->second;
}

std::optional<LeaderMeetings::Meeting> LeaderMeetings::meeting_of(std::int64_t rank, const State& call) const
{
    const auto peer = call.integer("peerCid"), other = call.integer("remoteLeader"),
               tag = call.integer("tag");
    if (!peer || !other || !tag)
        return std::nullopt;
    const Communicator* const communicator = m_objects.communicator(rank, *peer);
    return communicator ? std::optional(Meeting{communicator, rank, *other, *tag}) : std::nullopt;
}

void LeaderMeetings::add(const Call& call)
{
    if (call.facts.makes != ObjectKind::communicator || call.is_inside_call || call.has_failed())
        return;
    if (const auto meeting = meeting_of(call.trace.rank, call.state))
        ++m_calls[*meeting];
}

bool LeaderMeetings::has_other(const Meeting& meeting) const
{
    return calls_of(meeting.mirrored()) >= calls_of(meeting);
}

std::size_t LeaderMeetings::calls_of(const Meeting& meeting) const
{
    const auto found = m_calls.find(meeting);
    return found == m_calls.end() ? 0 : found->second;
}

} // namespace hdtrace
