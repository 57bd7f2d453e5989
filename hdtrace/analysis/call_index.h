// call_index.h - reads the index of a process: sums over blocks of its calls, and what was open between them.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "hdtrace/analysis/index_form.h"
#include "hdtrace/format/merged_traces.h"

namespace hdtrace {

/// An index is not what it should be. Its traces tell the same.
class IndexError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The index of one process, which belongs to its traces as they are now.
class CallIndex {
  public:
    /// Whether there is one, whatever it is.
    static bool is_there(const ProcessTraces& process);
    /// Reads its directory. Throws IndexError if it is damaged, or was made of other files or of what they
    /// were before.
    CallIndex(const Project& project, const ProcessTraces& process);

    const index_form::Contents& contents() const { return m_contents; }
    /// From the first leaf on; in their order.
    const std::vector<index_form::Node>& leaves() const { return m_leaves; }
    /// As few nodes as there can be of these leaves; the last one is not among them.
    std::vector<index_form::Node> cover(std::int64_t first, std::int64_t last) const;
    /// What a node says. Throws IndexError.
    std::vector<index_form::Item> items_of(const index_form::Node& node) const;
    /// The same of a snapshot.
    std::vector<index_form::Item> items_of(const index_form::SnapshotPart& snapshot) const;
    /// That of the last moment until @p moment; null if there is none. Belongs to this.
    const index_form::SnapshotPart* last_snapshot(std::int64_t moment) const;

  private:
    std::string text_at(std::int64_t offset, std::int64_t size, std::uint64_t checksum) const;
    std::vector<index_form::Item> items_at(std::int64_t offset, std::int64_t size,
                                           std::uint64_t checksum) const;
    void read_directory();
    void check_nodes();

    std::string m_path;
    std::size_t m_traces;
    index_form::Contents m_contents;
    std::vector<index_form::Node> m_leaves;
};

/// The calls of a process in an interval, as far as the index tells them: sums over blocks in the middle of
/// it, single states at its ends, and what has to be known of the time before.
class IndexedCalls {
  public:
    struct Item {
        index_form::Item said;        ///< of a state of a trace its position only
        const State* state = nullptr; ///< of a trace, or one that is kept or closes
        const TraceFile* trace = nullptr;
        bool is_of_trace = false;
    };

    /// @p read: what would be read of the traces without the index; its interval is not looked at. Both ends
    /// of @p interval belong to it, as everywhere where traces are read.
    IndexedCalls(CallIndex index, ProcessTraces process, Selection read, TimeInterval interval);

    const CallIndex& index() const { return m_index; }
    /// Null at the end. Belongs to this until the next call. Throws IndexError, OpenError, ReadError.
    const Item* next();

  private:
    struct Step {
        std::optional<index_form::Node> node; ///< else traces are read
        bool is_before = false;               ///< of a node only what it left open
        TimeInterval interval;                ///< in which states begin that are read
        index_form::Position begin;
    };

    void plan(TimeInterval interval);
    void plan_nodes(std::int64_t first, std::int64_t last, bool is_before);
    void plan_reading(std::int64_t leaf, std::int64_t last_moment);
    bool begin_step();
    const Item* next_of_trace();

    CallIndex m_index;
    ProcessTraces m_process;
    Selection m_read;
    std::vector<Step> m_steps;
    std::size_t m_next_step = 0;
    std::vector<index_form::Item> m_said; ///< by the node
    std::size_t m_next_said = 0;
    std::optional<MergedTraces> m_states;
    TimeInterval m_begins;
    index_form::Position m_position; ///< in the traces
    Item m_item;
};

} // namespace hdtrace
