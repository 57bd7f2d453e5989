// message_matrix.h - how much each process sends to each other.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "hdtrace/analysis/by_process.h"
#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/format/sums.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// The cells of a matrix of messages.
class MessageCells {
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

    /// @p project must outlive it.
    explicit MessageCells(const OpenedProject& project) : m_project(project) {}

    /// What @p call of the sender sent.
    void add(Pair pair, const Element& call, const Cell& sent);
    void add(const MessageCells& others);

    const std::map<Channel, Cell>& by_channel() const { return m_cells; }
    /// On all communicators together.
    std::map<Pair, Cell> by_pair() const;

  private:
    const OpenedProject& m_project;
    std::map<Channel, Cell> m_cells;
};

/// Counts what some of the processes send.
class SentMessages : EventVisitor {
  public:
    /// @p project and @p rows must outlive this. Throws OpenError, ReadError.
    SentMessages(const OpenedProject& project, const Selection& rows, const Selection& read,
                 const ProcessTraces& traces);
    SentMessages(const SentMessages&) = delete;
    SentMessages& operator=(const SentMessages&) = delete;

    /// Reads up to so many states of the top level, and says how many there were. Throws ReadError.
    std::size_t read(std::size_t states);

    const MessageCells& cells() const { return m_cells; }
    /// Known at the end.
    std::vector<MissingEnd> missing() const { return m_states.missing(); }

  private:
    void sent(const Call& call, const Operation& send) override;

    const Selection& m_rows; ///< what is counted of the states of a trace
    MergedTraces m_states;
    EventWalk m_walk{{this}};
    MessageCells m_cells;
};

/// Counts the messages that processes send, each where it is started, and their bytes, on all cores. What
/// collective operations and accesses to windows move is not in it. Memory grows with the pairs of processes
/// that communicate, on each communicator.
class MessageMatrix {
  public:
    /// @p selection: of the calls that start them, each in the interval in which it begins. Throws OpenError,
    /// ReadError.
    MessageMatrix(std::shared_ptr<const OpenedProject> project, Selection selection);
    MessageMatrix(const MessageMatrix&) = delete;
    MessageMatrix& operator=(const MessageMatrix&) = delete;

    /// Reads up to so many states of the top level; false at the end. Throws ReadError.
    bool read(std::size_t states);

    const MessageCells& cells() const { return m_cells; }
    /// Calls of which the sums of a run without traces only tell the name; they are in no cell.
    std::int64_t not_apart() const { return m_not_apart; }
    std::vector<MissingEnd> missing() const;

  private:
    void add_sums(const TraceFile& trace);
    void add(std::int64_t sender, const SummedCalls& row);

    std::shared_ptr<const OpenedProject> m_project;
    const Selection m_rows; ///< what is counted of the states of a trace
    const Selection m_read; ///< what has to be read for it
    MessageCells m_cells;
    std::map<std::size_t, std::vector<MissingEnd>> m_missing; ///< by process
    ByProcess<SentMessages> m_processes;
    const std::vector<TraceFile> m_sums; ///< of threads without traces
    std::size_t m_next_sums = 0;
    std::vector<MissingEnd> m_missing_sums;
    std::int64_t m_not_apart = 0;
};

} // namespace hdtrace
