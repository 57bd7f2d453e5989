#include "merger/communicators.h"

#include <algorithm>

namespace hdtrace::merger {

namespace {

constexpr std::string_view world_name = "WORLD";

/// Both sides of an inter-communicator, the one with the lowest world rank first, as all members see them
/// alike.
std::pair<RankMap, RankMap> ordered_sides(const CommunicatorRecord& record)
{
    if (record.remote.lowest() < record.map.lowest())
        return {record.remote, record.map};
    return {record.map, record.remote};
}

/// What communicators have in common that could be the same.
std::string shape(const CommunicatorRecord& record)
{
    const auto [map, remote] = ordered_sides(record);
    return to_string(map) + (record.is_inter ? "|" : "") + to_string(remote);
}

} // namespace

CommunicatorPositions CommunicatorUnifier::add(std::int64_t rank, const ProcessInfo& info)
{
    CommunicatorPositions positions;
    std::unordered_map<std::string, int> seen_shapes;
    for (const std::int64_t id : info.communicator_order) {
        const CommunicatorRecord& record = info.communicators.at(id);
        if (!record.map.contains(rank)) {
            m_report.error(record.place, "rank " + std::to_string(rank) +
                                             " is not in the map of its communicator " + std::to_string(id));
            continue;
        }
        std::string key = "uid " + record.uid;
        if (record.uid.empty()) {
            key = shape(record);
            key += "#" + std::to_string(seen_shapes[key]++);
            warn_of_missing_uid(record);
        }
        const std::size_t position = find_or_create(key, record);
        positions.emplace(id, position);
        add_member(m_communicators[position], rank, id, record);
    }
    return positions;
}

std::size_t CommunicatorUnifier::find_or_create(const std::string& key, const CommunicatorRecord& record)
{
    const auto [known, is_new] = m_index.try_emplace(key, m_communicators.size());
    if (is_new) {
        auto [map, remote] = ordered_sides(record);
        m_communicators.push_back(
            {SharedObject(record), std::move(map), record.is_inter, std::move(remote), record.is_world, {}});
    }
    return known->second;
}

void CommunicatorUnifier::add_member(MergedCommunicator& communicator, std::int64_t rank, std::int64_t id,
                                     const CommunicatorRecord& record)
{
    const auto [map, remote] = ordered_sides(record);
    if (record.is_inter != communicator.is_inter || map != communicator.map ||
        remote != communicator.remote) {
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
    communicator.take_name("communicator", Topic::communicators_with_several_names, rank, record, m_report);
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
