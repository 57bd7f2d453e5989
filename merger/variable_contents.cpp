#include "merger/variable_contents.h"

#include <algorithm>

namespace hdtrace::merger {

bool Members::add(std::string_view kind, std::int64_t size, std::int64_t at, std::int64_t count)
{
    return add(kind == anything ? Member{kind, size * count, at, 1} : Member{kind, size, at, count});
}

bool Members::add(const Member& member)
{
    constexpr std::size_t most = 64; // projects have to stay small enough for readers
    Member* const last = m_all.empty() ? nullptr : &m_all.back();
    const bool touches = last && member.at <= last->end();
    if (touches && member.kind == anything && last->kind == anything && member.at >= last->at) {
        last->size = std::max(last->end(), member.end()) - last->at; // bit fields share bytes
        return true;
    }
    if (last && member.at < last->end())
        return false;
    if (touches && member.kind == last->kind && member.size == last->size)
        last->count += member.count;
    else
        m_all.push_back(member);
    return m_all.size() <= most;
}

bool Members::add(const Members& of_struct, std::int64_t size, std::int64_t at, std::int64_t count)
{
    const std::vector<Member>& all = of_struct.m_all;
    if (all.empty())
        return true;
    if (all.size() == 1 && all.front().at == 0 && all.front().end() == size)
        return add(all.front().kind, all.front().size, at, all.front().count * count);
    // Each of these has a member that is not joined to one before, so that they soon are too many.
    for (std::int64_t i = 0; i < count; ++i)
        if (!add_once(of_struct, at + i * size))
            return false;
    return true;
}

bool Members::add_once(const Members& of_struct, std::int64_t at)
{
    return std::ranges::all_of(of_struct.m_all, [&](Member member) {
        member.at += at;
        return add(member);
    });
}

std::string Members::text() const
{
    constexpr std::size_t most = 1000;
    std::string text;
    for (const Member& member : m_all) {
        text += member.kind;
        for (const std::int64_t number : {member.size, member.at, member.count})
            text += ":" + std::to_string(number);
        text += ";";
    }
    return text.size() <= most ? text : "";
}

} // namespace hdtrace::merger
