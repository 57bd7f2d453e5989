// The communicators of the program, unified from what each process calls them.
#pragma once

#include "merger/process_info.h"
#include "merger/rank_map.h"
#include "merger/report.h"
#include "merger/shared_object.h"
#include "merger/worlds.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hdtrace::merger {

/// What the processes of one world say of a communicator with members of several, with ranks in the project.
struct WorldView {
    std::size_t world = 0;
    RankMap map;    ///< of an inter-communicator: the first side
    RankMap remote; ///< the second side
};

struct MergedCommunicator : SharedObject {
    RankMap map;
    bool is_inter = false;
    RankMap remote; ///< of an inter-communicator, whose first side has the lowest rank of all
    bool is_world = false;
    /// Rank and id of each process that knows the communicator, in the order of the ranks.
    std::vector<std::pair<std::int64_t, std::int64_t>> ids;
    std::vector<WorldView> views; ///< none unless there are members of other worlds
    Side side = Side::unknown;    ///< `own` where the uid is only that of one side
    Meeting meeting;
    std::int64_t meeting_rank = -1; ///< who tells of it

    /// Members of worlds that are not in the project; of an inter-communicator by its sides.
    std::int64_t untraced() const;
    std::int64_t untraced_remote() const;

    /// Gives the sides the order in which they are written.
    void order_sides();
};

/// Members of other worlds as a process numbers them.
struct ForeignMembers {
    std::int64_t rank = 0; ///< of the process
    std::size_t communicator = 0;
    bool is_remote = false; ///< they are in WorldView::remote
    std::vector<RankRun> runs;
};

/// Where the communicators of one process are in a CommunicatorUnifier, by their ids.
using CommunicatorPositions = std::map<std::int64_t, std::size_t>;

/// Processes are added in the order of their ranks.
class CommunicatorUnifier {
  public:
    explicit CommunicatorUnifier(Report& report) : m_report(report) {}

    /// Process @p rank of the project is of @p world, the number of which is @p world_number.
    CommunicatorPositions add(std::int64_t rank, const World& world, std::size_t world_number,
                              const ProcessInfo& info);

    /// By position.
    std::vector<MergedCommunicator>& all() { return m_communicators; }
    std::vector<ForeignMembers> take_foreign() { return std::move(m_foreign); }
    /// The world first, then as the processes describe them.
    std::vector<MergedCommunicator> take();

  private:
    std::size_t find_or_create(const std::string& key, const CommunicatorRecord& record,
                               const WorldView& view);
    void add_member(MergedCommunicator& communicator, std::int64_t rank, std::int64_t id,
                    const CommunicatorRecord& record, WorldView view);
    bool add_view(MergedCommunicator& communicator, const CommunicatorRecord& record, WorldView view);
    void add_foreign(std::int64_t rank, std::size_t position, const CommunicatorRecord& record,
                     bool is_swapped);
    void warn_of_missing_uid(const CommunicatorRecord& record);

    Report& m_report;
    std::vector<MergedCommunicator> m_communicators;
    std::vector<ForeignMembers> m_foreign;
    std::unordered_map<std::string, std::size_t> m_index; ///< of a key
    bool m_uid_was_missing = false;
};

} // namespace hdtrace::merger
