#include "hdtrace/format/objects.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace hdtrace {

std::size_t ObjectTable::Hash::operator()(const Id& id) const
{
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15; // 2^64 divided by the golden ratio
    return std::hash<std::uint64_t>()(static_cast<std::uint64_t>(id.rank) * spread +
                                      static_cast<std::uint64_t>(id.number));
}

ObjectTable::ObjectTable(const Project& project) : m_call_sites(project.call_sites)
{
    for (const Communicator& communicator : project.communicators)
        for (const Communicator::Member& member : communicator.members)
            if (member.cid)
                m_communicators.try_emplace({member.global, *member.cid}, &communicator);
    for (const ProjectFile& file : project.files)
        for (const ProjectFile::Rank& rank : file.ranks)
            m_files.try_emplace({rank.global, rank.fid}, &file);
    for (const RankDatatypes& datatypes : project.datatypes)
        for (const Datatype& datatype : datatypes.types)
            m_datatypes.try_emplace({datatypes.rank, datatype.id}, &datatype);
    for (const Window& window : project.windows)
        for (const Window::Member& member : window.members)
            if (member.wid)
                m_windows.try_emplace({member.global, *member.wid}, &window);
    for (const SiteIds& ids : project.site_ids)
        for (const SiteIds::Ranks& ranks : ids.ranks)
            m_sites.push_back({ranks, &ids});
    std::ranges::sort(m_sites, {}, [](const Sites& sites) { return sites.ranks.first; });
}

template <class Object>
const Object* ObjectTable::find(const Index<Object>& index, std::int64_t rank, std::int64_t id)
{
    const auto found = index.find({rank, id});
    return found == index.end() ? nullptr : found->second;
}

template <class Object>
const Object* ObjectTable::find_named(const Index<Object>& index, std::int64_t rank, const Element& call,
                                      const AttributeName& attribute)
{
    const auto id = call.integer(attribute);
    return id ? find(index, rank, *id) : nullptr;
}

const Communicator* ObjectTable::communicator(std::int64_t rank, std::int64_t cid) const
{
    return find(m_communicators, rank, cid);
}

const ProjectFile* ObjectTable::file(std::int64_t rank, std::int64_t fid) const
{
    return find(m_files, rank, fid);
}

const Datatype* ObjectTable::datatype(std::int64_t rank, std::int64_t tid) const
{
    return find(m_datatypes, rank, tid);
}

const Window* ObjectTable::window(std::int64_t rank, std::int64_t wid) const
{
    return find(m_windows, rank, wid);
}

const Communicator* ObjectTable::communicator(std::int64_t rank, const Element& call,
                                              const AttributeName& attribute) const
{
    return find_named(m_communicators, rank, call, attribute);
}

const ProjectFile* ObjectTable::file(std::int64_t rank, const Element& call,
                                     const AttributeName& attribute) const
{
    return find_named(m_files, rank, call, attribute);
}

const Datatype* ObjectTable::datatype(std::int64_t rank, const Element& call,
                                      const AttributeName& attribute) const
{
    return find_named(m_datatypes, rank, call, attribute);
}

const Window* ObjectTable::window(std::int64_t rank, const Element& call,
                                  const AttributeName& attribute) const
{
    return find_named(m_windows, rank, call, attribute);
}

const CallSite* ObjectTable::call_site(std::int64_t rank, std::int64_t site) const
{
    const auto after =
        std::ranges::upper_bound(m_sites, rank, {}, [](const Sites& sites) { return sites.ranks.first; });
    if (after == m_sites.begin() || std::prev(after)->ranks.last < rank)
        return nullptr;
    const std::vector<SiteIds::Run>& runs = std::prev(after)->ids->runs;
    const auto next = std::ranges::upper_bound(runs, site, {}, &SiteIds::Run::id);
    if (next == runs.begin() || site - std::prev(next)->id >= std::prev(next)->count)
        return nullptr;
    return &m_call_sites[std::prev(next)->site + (site - std::prev(next)->id)];
}

const CallSite* ObjectTable::call_site(std::int64_t rank, const Element& call) const
{
    const auto site = m_sites.empty() ? std::nullopt : call.integer("site");
    return site ? call_site(rank, *site) : nullptr;
}

} // namespace hdtrace
