#include "merger/windows.h"

namespace hdtrace::merger {

void WindowUnifier::add(std::int64_t rank, const ProcessInfo& info,
                        const std::vector<MergedCommunicator>& communicators,
                        const CommunicatorPositions& positions)
{
    std::unordered_map<std::size_t, int> seen_without_uid;
    for (const auto& [id, record] : info.windows) {
        if (!info.communicators.contains(record.communicator)) {
            m_report.error(record.place, "window " + std::to_string(id) + " is on communicator " +
                                             std::to_string(record.communicator) +
                                             ", which is not described");
            continue;
        }
        const auto position = positions.find(record.communicator);
        if (position == positions.end())
            continue; // the communicator is wrong, which has been reported
        std::string key = "uid " + record.uid;
        if (record.uid.empty()) {
            key = "communicator " + std::to_string(position->second);
            key += "#" + std::to_string(seen_without_uid[position->second]++);
            warn_of_missing_uid(record);
        }
        add_part(find_or_create(key, record, position->second),
                 {rank, id, record.size, record.displacement_unit}, record, position->second,
                 communicators[position->second].is_inter);
    }
}

MergedWindow& WindowUnifier::find_or_create(const std::string& key, const WindowRecord& record,
                                            std::size_t position)
{
    const auto [known, is_new] = m_index.try_emplace(key, m_windows.size());
    if (is_new)
        m_windows.push_back({SharedObject(record), "", {}, position, {}});
    return m_windows[known->second];
}

void WindowUnifier::add_part(MergedWindow& window, const WindowPart& part, const WindowRecord& record,
                             std::size_t position, bool is_inter)
{
    if (is_inter) {
        m_report.error(record.place, "window " + std::to_string(part.id) + " is on an inter-communicator");
        return;
    }
    if (position != window.position) {
        m_report.error(record.place, "window '" + record.uid + "' is on another communicator than in " +
                                         to_string(window.place));
        return;
    }
    if (!window.parts.empty() && window.parts.back().rank == part.rank) {
        m_report.error(record.place, "rank " + std::to_string(part.rank) + " describes window '" +
                                         record.uid + "' with the ids " +
                                         std::to_string(window.parts.back().id) + " and " +
                                         std::to_string(part.id));
        return;
    }
    window.parts.push_back(part);
    window.take_name("window", Topic::windows_with_several_names, part.rank, record, m_report);
}

std::vector<MergedWindow> WindowUnifier::take(const std::vector<MergedCommunicator>& communicators,
                                              const std::vector<std::size_t>& positions)
{
    for (MergedWindow& window : m_windows) {
        const MergedCommunicator& communicator = communicators[positions[window.position]];
        window.communicator = communicator.uid;
        window.map = communicator.map;
    }
    return std::move(m_windows);
}

void WindowUnifier::warn_of_missing_uid(const WindowRecord& record)
{
    if (!m_uid_was_missing)
        m_report.warn(Topic::windows_without_uid, record.place,
                      "windows without uid: those on equal communicators are paired in the order of their "
                      "creation, which may be wrong");
    m_uid_was_missing = true;
}

} // namespace hdtrace::merger
