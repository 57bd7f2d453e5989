// message_matrix.h - how much each process sends to each other.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/format/sums.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// Counts the messages that processes send, each where it is started, and their bytes. What collective
/// operations and accesses to windows move is not in it. Memory grows with the pairs of processes that
/// communicate, on each communicator.
class MessageMatrix : EventVisitor {
  public:
    struct Cell {
        std::int64_t messages = 0;
        std::int64_t bytes = 0;
    };
    using Pair = std::pair<std::int64_t, std::int64_t>; ///< the ranks of sender and receiver
    struct Channel {
        Pair pair;
        std::int64_t communicator = -1; ///< position in Project::communicators; -1 is unknown

        auto operator<=>(const Channel&) const = default;
    };

    /// @p selection: of the calls that start them, each in the interval in which it begins. Throws OpenError,
    /// ReadError.
    MessageMatrix(std::shared_ptr<const OpenedProject> project, Selection selection);
    MessageMatrix(const MessageMatrix&) = delete;
    MessageMatrix& operator=(const MessageMatrix&) = delete;

    /// Reads up to so many states of the top level; false at the end. Throws ReadError.
    bool read(std::size_t states);

    const std::map<Channel, Cell>& cells() const { return m_cells; }
    /// On all communicators together.
    std::map<Pair, Cell> cells_of_pairs() const;
    /// Calls of which the sums of a run without traces only tell the name; they are in no cell.
    std::int64_t not_apart() const { return m_not_apart; }
    std::vector<MissingEnd> missing() const;

  private:
    void add_sums(const TraceFile& trace);
    void add(std::int64_t sender, const SummedCalls& row);
    void sent(const Call& call, const Operation& send) override;
    void add(Pair pair, const Element& call, const Cell& sent);

    std::shared_ptr<const OpenedProject> m_project;
    Selection m_rows; ///< what is counted of the states of a trace
    MergedTraces m_states;
    const std::vector<TraceFile> m_sums; ///< of threads without traces
    std::size_t m_next_sums = 0;
    std::vector<MissingEnd> m_missing_sums;
    std::int64_t m_not_apart = 0;
    EventWalk m_walk{{this}};
    std::map<Channel, Cell> m_cells;
};

} // namespace hdtrace
