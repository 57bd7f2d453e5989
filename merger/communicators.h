// The communicators of the program, unified from what each process calls them.
#pragma once

#include "merger/process_info.h"
#include "merger/rank_map.h"
#include "merger/report.h"
#include "merger/shared_object.h"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hdtrace::merger {

struct MergedCommunicator : SharedObject {
    RankMap map;
    bool is_inter = false;
    RankMap remote; ///< of an inter-communicator, whose first side has the lowest world rank of all
    bool is_world = false;
    /// World rank and id of each process that knows the communicator, in the order of the ranks.
    std::vector<std::pair<std::int64_t, std::int64_t>> ids;
};

/// Where the communicators of one process are in a CommunicatorUnifier, by their ids.
using CommunicatorPositions = std::map<std::int64_t, std::size_t>;

/// Processes are added in the order of their ranks.
class CommunicatorUnifier {
  public:
    explicit CommunicatorUnifier(Report& report) : m_report(report) {}

    CommunicatorPositions add(std::int64_t rank, const ProcessInfo& info);
    const MergedCommunicator& operator[](std::size_t position) const { return m_communicators[position]; }
    /// The world first, then as the processes describe them.
    std::vector<MergedCommunicator> take();

  private:
    std::size_t find_or_create(const std::string& key, const CommunicatorRecord& record);
    void add_member(MergedCommunicator& communicator, std::int64_t rank, std::int64_t id,
                    const CommunicatorRecord& record);
    void warn_of_missing_uid(const CommunicatorRecord& record);

    Report& m_report;
    std::vector<MergedCommunicator> m_communicators;
    std::unordered_map<std::string, std::size_t> m_index; ///< of a key
    bool m_uid_was_missing = false;
};

} // namespace hdtrace::merger
