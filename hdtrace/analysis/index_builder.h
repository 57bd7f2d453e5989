// index_builder.h - makes the index of a process.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hdtrace/analysis/call_meter.h"
#include "hdtrace/analysis/index_form.h"
#include "hdtrace/matching/arrivals.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// Of these traces no index can be made; what() says why.
class NoIndex : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Reads the traces of a process once and adds up its calls in blocks, and these in larger ones. A state of
/// which something stays open behind a block, such as a receive that has not come, is kept as it is, with
/// what closes it; its calls are in the sums of blocks only that also have the end. Memory grows with the
/// kinds of calls in a block and with what is open. For one thread at a time.
class IndexBuilder : EventVisitor {
  public:
    /// Takes the text of the index.
    using Write = std::function<void(std::string_view text)>;

    /// @p states: of the top level, in a block, at least. @p snapshots: of the process, which the index
    /// keeps. Throws OpenError, ReadError, NoIndex.
    IndexBuilder(std::shared_ptr<const OpenedProject> project, ProcessTraces process, std::int64_t states,
                 std::vector<index_form::SnapshotText> snapshots, Write write);
    IndexBuilder(const IndexBuilder&) = delete;
    IndexBuilder& operator=(const IndexBuilder&) = delete;

    /// Reads up to so many states, and says how many there were. Fewer: the index is written. Throws
    /// ReadError, NoIndex, and what Write throws.
    std::size_t read(std::size_t states);

  private:
    static constexpr std::size_t key_size = 11;
    using Key = std::array<std::int64_t, key_size>; ///< what calls of one sum have in common
    struct KeyHash {
        std::size_t operator()(const Key& key) const;
    };
    struct Sum {
        Totals totals;
        std::int64_t first = 0, last = 0;
        index_form::Position position;
        std::int64_t number = 0; ///< in the order in which calls ended
    };
    using Sums = std::unordered_map<Key, Sum, KeyHash>;
    struct Part {
        Key key;
        Sum sum;
    };
    /// A state that is not in any sum yet.
    struct Live {
        std::int64_t leaf = 0;
        index_form::Position position;
        std::size_t trace = 0;
        State state;
        std::vector<std::int64_t> inside; ///< before it
        std::vector<Part> parts;          ///< its calls and regions
        int open = 0;                     ///< what it has begun and is not over
        bool is_listed = false;           ///< in m_open
    };
    using LivePointer = std::shared_ptr<Live>;
    struct Owner {
        std::int64_t leaf;
        std::weak_ptr<Live> live;
        bool concerns(std::int64_t first_leaf) const { return leaf < first_leaf || !live.expired(); }
    };
    struct Closing {
        index_form::Item item;
        Owner closer;
        std::vector<Owner> owners;
    };
    struct Level {
        std::int64_t first = 0; ///< leaf
        index_form::Position begin;
        Sums sums;
        std::vector<Closing> closings;
    };
    /// A call that is counted when all is known that it moves.
    struct Awaiting {
        LivePointer live;
        std::size_t part;
    };
    static constexpr std::size_t most_levels = 20;

    void enter(const Call& call) override;
    void leave(const Call& call) override;
    void mark(const Call& event) override;
    void add(const TraceFile& trace, State& state);
    bool is_block_full() const;
    void complete(const Call& call);
    void follow_requests(const Call& call, std::size_t part);
    /// What the current state ends of the owners.
    void add_closing(State closing, std::vector<Owner> owners);
    void leave_region(const Call& region);
    void add_part(const Call& call, const Totals& totals);
    void hold(const LivePointer& live);
    static void add_sum(Sums& sums, const Key& key, const Sum& more);
    void deposit(const Live& live);
    void close_block(std::int64_t end);
    std::vector<LivePointer> settle(std::int64_t end);
    void write_node(std::size_t level, std::int64_t end, const std::vector<LivePointer>& kept);
    void pass_on(std::size_t level);
    index_form::Item item_of(const Key& key, const Sum& sum) const;
    void write_snapshots();
    void finish();
    std::size_t number_of(const TraceFile& trace) const;

    std::shared_ptr<const OpenedProject> m_project;
    ProcessTraces m_process;
    std::int64_t m_states_in_block;
    std::vector<index_form::SnapshotText> m_snapshots;
    Write m_write;
    std::int64_t m_offset = 0;
    index_form::Contents m_contents;
    MergedTraces m_states;
    EventWalk m_walk{{this}, EventWalk::Follow::calls};
    CallMeter m_meter{m_project->objects};
    Arrivals<Awaiting> m_arrivals;

    index_form::Position m_position;
    std::int64_t m_ended_calls = 0;
    std::int64_t m_in_block = 0;
    std::int64_t m_leaf = 0;
    std::array<Level, most_levels> m_levels;
    LivePointer m_now;
    std::vector<LivePointer> m_last;  ///< of each trace
    std::vector<std::int64_t> m_ends; ///< of each trace: of its last state
    std::vector<LivePointer> m_open;
    std::unordered_map<std::int64_t, LivePointer> m_prepared;                ///< by rid
    std::vector<std::vector<std::pair<std::string, LivePointer>>> m_regions; ///< of each trace, open ones
    std::map<std::int32_t, bool> m_seen_regions;
    bool m_has_inside = false;
    TextIndex m_names, m_paths;
};

} // namespace hdtrace
