#include "merger/export/dumpi/communicators.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "merger/dumpi/constants.h"

namespace hdtrace::exporter::dumpi {

using namespace hdtrace::dumpi;

namespace {

bool is_number(std::string_view text)
{
    return std::ranges::all_of(text, [](char digit) { return digit >= '0' && digit <= '9'; });
}

/// By uid (docs/identity.md); traces of the original tools have only the name.
bool is_world(const Communicator& communicator)
{
    const std::string_view uid = communicator.uid;
    return uid.empty() ? communicator.name == "WORLD" : uid[0] == 'W' && is_number(uid.substr(1));
}

bool is_self(const Communicator& communicator)
{
    const std::string_view uid = communicator.uid;
    const std::size_t place = uid.find('S');
    if (place == std::string_view::npos)
        return uid.empty() && communicator.name == "SELF";
    return place + 1 < uid.size() && is_number(uid.substr(place + 1)) &&
           (place == 0 || (uid[0] == 'W' && is_number(uid.substr(1, place - 1))));
}

} // namespace

Members::Members(const std::vector<Communicator::Member>& members)
{
    m_members.reserve(members.size());
    for (const Communicator::Member& member : members)
        m_members.push_back({member.global, member.group.value_or(0), member.local});
    sort();
}

Members::Members(const std::vector<Window::Member>& members)
{
    m_members.reserve(members.size());
    for (const Window::Member& member : members)
        m_members.push_back({member.global, 0, member.local});
    sort();
}

void Members::sort()
{
    std::ranges::sort(m_members);
    for (const Member& member : m_members)
        ++m_sizes[member.group];
}

const Members::Member* Members::find(std::int64_t global) const
{
    const auto found = std::ranges::lower_bound(m_members, global, {}, &Member::global);
    return found == m_members.end() || found->global != global ? nullptr : &*found;
}

std::optional<std::int64_t> Members::rank(std::int64_t global) const
{
    const Member* member = find(global);
    return member == nullptr ? std::nullopt : std::optional(member->local);
}

std::optional<std::int64_t> Members::peer(std::int64_t me, std::int64_t global) const
{
    const Member* peer = find(global);
    if (peer != nullptr && is_intercommunicator())
        if (const Member* self = find(me); self != nullptr && self->group == peer->group)
            return std::nullopt;
    return peer == nullptr ? std::nullopt : std::optional(peer->local);
}

std::int64_t Members::group_size(std::int64_t global) const
{
    const Member* member = find(global);
    return member == nullptr ? 0 : m_sizes.at(member->group);
}

std::vector<std::int64_t> Members::in_order() const
{
    std::vector<Member> members = m_members;
    std::erase_if(members, [&](const Member& member) { return member.group != m_sizes.begin()->first; });
    std::ranges::sort(members, {}, &Member::local);
    std::vector<std::int64_t> ranks;
    for (const Member& member : members)
        ranks.push_back(member.global);
    return ranks;
}

Communicators::Communicators(const Project& project)
{
    std::uint32_t next = first_communicator;
    for (const Communicator& communicator : project.communicators) {
        m_communicators.emplace(&communicator, Members(communicator.members));
        const bool has_room = next <= std::numeric_limits<std::uint16_t>::max();
        m_numbers[&communicator] = is_world(communicator)  ? world
                                   : is_self(communicator) ? self
                                   : has_room              ? next++
                                                           : 0;
    }
    for (const Window& window : project.windows)
        m_windows.emplace(&window, Members(window.members));
}

std::uint32_t Communicators::number(const Communicator* communicator) const
{
    const auto found = m_numbers.find(communicator);
    return found == m_numbers.end() ? 0 : found->second;
}

const Members& Communicators::members(const Communicator* communicator) const
{
    const auto found = m_communicators.find(communicator);
    return found == m_communicators.end() ? m_nobody : found->second;
}

const Members& Communicators::members(const Window* window) const
{
    const auto found = m_windows.find(window);
    return found == m_windows.end() ? m_nobody : found->second;
}

} // namespace hdtrace::exporter::dumpi
