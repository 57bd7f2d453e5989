#include "merger/communicators.h"

#include <algorithm>
#include <tuple>

namespace hdtrace::merger {

namespace {

constexpr std::string_view world_name = "WORLD";

/// Whether the process's side is the second one: the one with the lowest rank is the first, as all members
/// see them alike, but where members of other worlds, whose ranks they do not know, have agreed on it.
bool is_second(const CommunicatorRecord& record)
{
    if (record.side == Side::unknown || !record.has_foreign())
        return record.remote.lowest() < record.map.lowest();
    return record.side == Side::second;
}

WorldView view_of(const CommunicatorRecord& record, std::size_t world_number, std::int64_t first_rank)
{
    WorldView view{world_number, record.map.shifted(first_rank), record.remote.shifted(first_rank)};
    if (is_second(record))
        std::swap(view.map, view.remote);
    return view;
}

/// What communicators have in common that could be the same.
std::string shape(const CommunicatorRecord& record, const WorldView& view)
{
    return to_string(view.map) + (record.is_inter ? "|" : "") + to_string(view.remote);
}

} // namespace

std::int64_t MergedCommunicator::untraced() const
{
    return views.empty() ? 0 : views.front().map.size_of_all() - map.size();
}

std::int64_t MergedCommunicator::untraced_remote() const
{
    return views.empty() ? 0 : views.front().remote.size_of_all() - remote.size();
}

void MergedCommunicator::order_sides()
{
    if (remote.lowest() < map.lowest())
        std::swap(map, remote);
}

CommunicatorPositions CommunicatorUnifier::add(std::int64_t rank, const World& world,
                                               std::size_t world_number, const ProcessInfo& info)
{
    CommunicatorPositions positions;
    std::unordered_map<std::string, int> seen_shapes;
    for (const std::int64_t id : info.communicator_order) {
        const CommunicatorRecord& record = info.communicators.at(id);
        if (!record.map.contains(rank - world.first)) {
            m_report.error(record.place, "rank " + std::to_string(rank - world.first) +
                                             " is not in the map of its communicator " + std::to_string(id));
            continue;
        }
        WorldView view = view_of(record, world_number, world.first);
        std::string key = "uid " + record.uid;
        if (record.uid.empty()) {
            key = shape(record, view);
            key += "#" + std::to_string(seen_shapes[key]++);
            // Each process has one world, and nobody else a communicator of its own.
            if (record.name != world_name && (record.is_inter || record.map.size() > 1))
                warn_of_missing_uid(record);
        }
        const std::size_t position = find_or_create(key, record, view);
        positions.emplace(id, position);
        add_foreign(rank, position, record, is_second(record));
        add_member(m_communicators[position], rank, id, record, std::move(view));
    }
    return positions;
}

std::size_t CommunicatorUnifier::find_or_create(const std::string& key, const CommunicatorRecord& record,
                                                const WorldView& view)
{
    const auto [known, is_new] = m_index.try_emplace(key, m_communicators.size());
    if (!is_new)
        return known->second;
    MergedCommunicator& communicator = m_communicators.emplace_back();
    static_cast<SharedObject&>(communicator) = SharedObject(record);
    communicator.map = view.map;
    communicator.is_inter = record.is_inter;
    communicator.remote = view.remote;
    communicator.side = record.side;
    communicator.is_world = record.is_world && view.world == 0;
    if (record.is_world && view.world > 0)
        communicator.name = std::string(world_name) + " " + record.uid;
    return known->second;
}

void CommunicatorUnifier::add_member(MergedCommunicator& communicator, std::int64_t rank, std::int64_t id,
                                     const CommunicatorRecord& record, WorldView view)
{
    if (!add_view(communicator, record, std::move(view))) {
        m_report.error(record.place, "communicator '" + record.uid + "' has other members than in " +
                                         to_string(communicator.place));
        return;
    }
    if (!communicator.ids.empty() && communicator.ids.back().first == rank) {
        m_report.error(record.place, "rank " + std::to_string(rank) + " describes communicator '" +
                                         record.uid + "' with the ids " +
                                         std::to_string(communicator.ids.back().second) + " and " +
                                         std::to_string(id));
        return;
    }
    communicator.ids.emplace_back(rank, id);
    if (record.meeting.kind != Meeting::Kind::none)
        std::tie(communicator.meeting, communicator.meeting_rank) = std::tie(record.meeting, rank);
    communicator.take_name("communicator", Topic::communicators_with_several_names, rank, record, m_report);
}

/// False if it contradicts what is known.
bool CommunicatorUnifier::add_view(MergedCommunicator& communicator, const CommunicatorRecord& record,
                                   WorldView view)
{
    if (record.is_inter != communicator.is_inter)
        return false;
    if (!record.has_foreign())
        return communicator.views.empty() && view.map == communicator.map &&
               view.remote == communicator.remote;
    const auto known = std::ranges::find(communicator.views, view.world, &WorldView::world);
    if (known != communicator.views.end())
        return view.map == known->map && view.remote == known->remote;
    if (communicator.views.empty() && !communicator.ids.empty())
        return false;
    communicator.views.push_back(std::move(view));
    return true;
}

void CommunicatorUnifier::add_foreign(std::int64_t rank, std::size_t position,
                                      const CommunicatorRecord& record, bool is_swapped)
{
    if (!record.map.foreign().empty())
        m_foreign.push_back({rank, position, is_swapped, record.map.foreign()});
    if (!record.remote.foreign().empty())
        m_foreign.push_back({rank, position, !is_swapped, record.remote.foreign()});
}

void CommunicatorUnifier::warn_of_missing_uid(const CommunicatorRecord& record)
{
    if (!m_uid_was_missing)
        m_report.warn(
            Topic::communicators_without_uid, record.place,
            "communicators without uid: those with equal maps are paired in the order of their creation, "
            "which may be wrong");
    m_uid_was_missing = true;
}

std::vector<MergedCommunicator> CommunicatorUnifier::take()
{
    std::erase_if(m_communicators, [](const MergedCommunicator& communicator) {
        return communicator.ids.empty(); // moved to another one
    });
    std::ranges::stable_partition(m_communicators, &MergedCommunicator::is_world);
    for (MergedCommunicator& communicator : m_communicators) {
        // Readers know the world by its name.
        if (communicator.is_world)
            communicator.name = world_name;
        else if (communicator.name == world_name) {
            communicator.name += " (not the world)";
            m_report.warn(Topic::taken_names, communicator.place,
                          "the name WORLD is reserved: this communicator is written as '" +
                              communicator.name + "'");
        }
    }
    return std::move(m_communicators);
}

} // namespace hdtrace::merger
