// The windows for one-sided communication, unified from what each process calls them.
#pragma once

#include "merger/communicators.h"
#include "merger/process_info.h"
#include "merger/rank_map.h"
#include "merger/report.h"
#include "merger/shared_object.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hdtrace::merger {

/// What one process has of a window.
struct WindowPart {
    std::int64_t rank = 0;
    std::int64_t id = 0;
    std::int64_t size = 0; ///< bytes
    std::int64_t displacement_unit = 0;
};

struct MergedWindow : SharedObject {
    std::string communicator;      ///< uid of the communicator on which it was made
    RankMap map;                   ///< of that communicator
    std::size_t position = 0;      ///< of that communicator, while processes are added
    std::vector<WindowPart> parts; ///< of the processes that know the window, in the order of the ranks
};

/// Processes are added in the order of their ranks.
class WindowUnifier {
  public:
    explicit WindowUnifier(Report& report) : m_report(report) {}

    /// The process has been added to @p communicators, where it has those at @p positions.
    void add(std::int64_t rank, const ProcessInfo& info, const std::vector<MergedCommunicator>& communicators,
             const CommunicatorPositions& positions);
    /// As the processes describe them. @p communicators are all now that were at @p positions.
    std::vector<MergedWindow> take(const std::vector<MergedCommunicator>& communicators,
                                   const std::vector<std::size_t>& positions);

  private:
    MergedWindow& find_or_create(const std::string& key, const WindowRecord& record, std::size_t position);
    void add_part(MergedWindow& window, const WindowPart& part, const WindowRecord& record,
                  std::size_t position, bool is_inter);
    void warn_of_missing_uid(const WindowRecord& record);

    Report& m_report;
    std::vector<MergedWindow> m_windows;
    std::unordered_map<std::string, std::size_t> m_index; ///< of a key
    bool m_uid_was_missing = false;
};

} // namespace hdtrace::merger
