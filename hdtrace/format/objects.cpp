#include "hdtrace/format/objects.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hdtrace {

template <class Object>
void ObjectTable::Index<Object>::add(std::int64_t rank, std::int64_t number, const Object& object)
{
    m_entries.push_back({{rank, number}, &object});
}

template <class Object> void ObjectTable::Index<Object>::sort()
{
    std::ranges::stable_sort(m_entries, {}, &Entry::id);
    constexpr std::size_t fewest = 1000;
    const std::size_t most = std::max(fewest, 4 * m_entries.size());
    if (m_entries.empty() || m_entries.front().id.first < 0 ||
        static_cast<std::uint64_t>(m_entries.back().id.first) >= most)
        return;
    for (std::size_t i = 0; i < m_entries.size(); ++i)
        m_begin.resize(std::max(m_begin.size(), static_cast<std::size_t>(m_entries[i].id.first) + 1),
                       static_cast<std::uint32_t>(i));
    m_begin.push_back(static_cast<std::uint32_t>(m_entries.size()));
}

template <class Object>
const Object* ObjectTable::Index<Object>::find(std::int64_t rank, std::int64_t number) const
{
    auto first = m_entries.begin(), last = m_entries.end();
    if (!m_begin.empty()) {
        const auto place = static_cast<std::uint64_t>(rank);
        if (place >= m_begin.size() - 1) // also of a negative one
            return nullptr;
        last = first + m_begin[place + 1];
        first += m_begin[place];
    }
    const std::pair id(rank, number);
    const auto found = std::ranges::lower_bound(first, last, id, {}, &Entry::id);
    return found != last && found->id == id ? found->object : nullptr;
}

ObjectTable::ObjectTable(const Project& project) : m_project(&project), m_call_sites(project.call_sites)
{
    for (const Communicator& communicator : project.communicators)
        for (const Communicator::Member& member : communicator.members)
            if (member.cid)
                m_communicators.add(member.global, *member.cid, communicator);
    for (const ProjectFile& file : project.files)
        for (const ProjectFile::Rank& rank : file.ranks)
            m_files.add(rank.global, rank.fid, file);
    for (const RankDatatypes& datatypes : project.datatypes)
        for (const Datatype& datatype : datatypes.types)
            m_datatypes.add(datatypes.rank, datatype.id, datatype);
    for (const Window& window : project.windows)
        for (const Window::Member& member : window.members)
            if (member.wid)
                m_windows.add(member.global, *member.wid, window);
    m_communicators.sort();
    m_files.sort();
    m_datatypes.sort();
    m_windows.sort();
    for (const SiteIds& ids : project.site_ids)
        for (const SiteIds::Ranks& ranks : ids.ranks)
            m_sites.push_back({ranks, &ids});
    std::ranges::sort(m_sites, {}, [](const Sites& sites) { return sites.ranks.first; });
}

template <class Object>
const Object* ObjectTable::find_named(const Index<Object>& index, std::int64_t rank, const Element& call,
                                      const AttributeName& attribute)
{
    const auto id = call.integer(attribute);
    return id ? index.find(rank, *id) : nullptr;
}

const Communicator* ObjectTable::communicator(std::int64_t rank, std::int64_t cid) const
{
    return m_communicators.find(rank, cid);
}

const ProjectFile* ObjectTable::file(std::int64_t rank, std::int64_t fid) const
{
    return m_files.find(rank, fid);
}

const Datatype* ObjectTable::datatype(std::int64_t rank, std::int64_t tid) const
{
    return m_datatypes.find(rank, tid);
}

const Window* ObjectTable::window(std::int64_t rank, std::int64_t wid) const
{
    return m_windows.find(rank, wid);
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
