// history_reader.h - makes a history of what stands in the traces of a project.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/explaining/file_uses.h"
#include "hdtrace/explaining/history.h"
#include "hdtrace/explaining/window_epochs.h"
#include "hdtrace/format/read_ahead.h"
#include "hdtrace/matching/collectives.h"
#include "hdtrace/matching/messages.h"
#include "hdtrace/matching/topologies.h"

namespace hdtrace {

/// Reads all traces of a project once, in the order of time. Calls that the MPI library or the tracer made
/// inside others are part of these.
class HistoryReader : EventVisitor {
  public:
    /// Throws OpenError, ReadError.
    /// The history is cut to the interval at the end: what belongs together is only known from all calls.
    explicit HistoryReader(std::shared_ptr<const OpenedProject> project, TimeInterval interval = {});
    HistoryReader(const HistoryReader&) = delete;
    HistoryReader& operator=(const HistoryReader&) = delete;

    /// Reads up to so many states of the top level; false at the end, when the history is whole. Throws
    /// ReadError.
    bool read(std::size_t states);

    /// With clocks, by which the history's times are corrected, if there are several hosts.
    const std::shared_ptr<const OpenedProject>& project() const { return m_project; }
    const History& history() const { return m_history; }
    const FileUses& file_uses() const { return m_file_uses; }
    const std::vector<MissingEnd>& missing() const { return m_missing; }
    /// How many calls of the program in the interval never ended, or had not when the trace did.
    std::size_t unfinished() const { return m_unfinished; }

  private:
    using Id = std::pair<std::int64_t, std::int64_t>; // rank, and rid or thread
    struct IdHash {
        std::size_t operator()(const Id& id) const
        {
            return static_cast<std::size_t>(id.first * 0x9E3779B97F4A7C15 + id.second);
        }
    };
    template <class Value> using ByRequest = std::unordered_map<Id, Value, IdHash>;
    /// A send that is complete when its receive has begun.
    struct SynchronousSend {
        std::optional<StepId> end = {};     ///< the call that completed it
        std::optional<StepId> receive = {}; ///< the call that began to receive it
        bool is_certain = true;             ///< else only if it was not complete before
    };
    /// A collective operation that does not block: a call may start several (Startall).
    struct Started {
        StepId call;
        std::int64_t rid = -1;

        auto operator<=>(const Started&) const = default;
    };
    struct StartedNeed {
        Need need; ///< of the call that starts the operation, not yet of that which completes it
        std::int64_t rid = -1;
    };
    struct StartedMember {
        std::size_t gathering = 0; ///< positions in the history
        std::uint32_t member = 0;
        std::int64_t rid = -1;
    };

    void enter(const Call& call) override;
    void leave(const Call& call) override;
    void started(const Call& call, const Operation& operation) override;
    void completed(const Call& call, const Completion& completion) override;

    void add_message(const Message& message);
    void add_collective(const Collective& collective);
    void add_probe(const Call& call, const Communicator* communicator);
    void add_probes_of(const Message& message, StepId send);
    struct Probe {
        StepId step;
        std::int64_t line, thread;
        bool takes; ///< the message, so that no other receive gets it
    };
    void add_partitioned();
    void add_member(Gathering& gathering, const CollectiveCall& call);
    void add_neighbours(const Collective& collective);
    void add_between_groups(const Collective& collective, WaitKind kind);
    std::vector<std::int64_t> sources_of_data(const CollectiveCall& call,
                                              const Communicator& communicator) const;
    void add_synchronous(const SynchronousSend& send);
    void add_border(const TraceFile& trace, std::int64_t time, Place place);
    void add_left_out_polls(const Call& next);
    void add_step(std::uint32_t timeline, Place place, std::int64_t begin, std::int64_t end);
    void add_lives();
    void end_gatherings();
    void end_started_needs();
    void sort_needs();
    void finish();

    std::uint32_t timeline_of(std::int64_t rank, std::int64_t thread) const;
    /// The call that a thread was in at that time.
    std::optional<StepId> find(std::int64_t rank, std::int64_t thread, std::int64_t time) const;
    std::optional<StepId> last_step(const Call& call) const;
    std::int32_t region_number(std::int32_t path);

    std::shared_ptr<const OpenedProject> m_project;
    TimeInterval m_interval;
    std::optional<ReadAhead> m_states; ///< until all is read
    std::vector<MissingEnd> m_missing;
    std::size_t m_unfinished = 0;
    History m_history;
    Series<Need> m_needs; ///< in the order in which they are found
    PlaceIndex m_places{m_history.places};
    std::unordered_map<Id, std::uint32_t, IdHash> m_timelines; ///< by thread
    std::vector<std::int32_t> m_regions;                       ///< by path of the walk
    ByRequest<StepId> m_received; ///< which call completed a receive whose message is not known yet
    /// That found a message, which is not known yet to have been received: by where it goes, and its tag.
    std::map<std::tuple<const Communicator*, std::int64_t, std::int64_t, std::int64_t>, std::vector<Probe>>
        m_probes;
    ByRequest<std::optional<StepId>> m_ready;       ///< the last of each started send's partitions
    std::vector<std::pair<Need, Id>> m_partitioned; ///< with the start of the send
    ByRequest<SynchronousSend> m_synchronous;
    Series<StartedNeed> m_started_needs;
    Series<StartedMember> m_started_members;
    std::map<Started, StepId> m_ends; ///< which call completed it
    Beginnings m_beginnings;
    WindowEpochs m_epochs;
    MessageMatcher m_messages;
    CollectiveMatcher m_collectives;
    Topologies m_topologies;
    FileUses m_file_uses;
    EventWalk m_walk{this, &m_beginnings, &m_messages, &m_collectives, &m_topologies, &m_file_uses};
};

} // namespace hdtrace
