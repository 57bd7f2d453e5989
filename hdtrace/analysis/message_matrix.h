// message_matrix.h - how much each process sends to each other.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// Counts the messages that processes send, each where it is started, and their bytes. What collective
/// operations and accesses to windows move is not in it. Memory grows with the pairs of processes that
/// communicate.
class MessageMatrix : EventVisitor {
  public:
    struct Cell {
        std::int64_t messages = 0;
        std::int64_t bytes = 0;
    };
    using Pair = std::pair<std::int64_t, std::int64_t>; ///< the ranks of sender and receiver

    /// @p selection: of the calls that start them, each in the interval in which it begins. Throws OpenError,
    /// ReadError.
    MessageMatrix(std::shared_ptr<const OpenedProject> project, Selection selection);
    MessageMatrix(const MessageMatrix&) = delete;
    MessageMatrix& operator=(const MessageMatrix&) = delete;

    /// Reads up to so many states of the top level; false at the end. Throws ReadError.
    bool read(std::size_t states);

    const std::map<Pair, Cell>& cells() const { return m_cells; }
    const std::vector<MissingEnd>& missing() const { return m_states.missing(); }

  private:
    void sent(const Call& call, const Operation& send) override;

    std::shared_ptr<const OpenedProject> m_project;
    Selection m_rows; ///< what is counted of the states of a trace
    MergedTraces m_states;
    EventWalk m_walk{{this}};
    std::map<Pair, Cell> m_cells;
};

} // namespace hdtrace
