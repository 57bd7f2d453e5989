// What one process does, as lines of SimGrid's replay.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/events.h"
#include "merger/export/account.h"
#include "merger/export/collectives.h"
#include "merger/export/tit/actions.h"
#include "merger/export/tit/preparation.h"

namespace hdtrace::exporter {

/// What all processes share.
struct Replay {
    const Project& project;
    const ObjectTable& objects;
    const Communicator* world; ///< null if there is none
    double speed; ///< what the traced processor computes, in floating-point operations per second
    UnmatchedOperations unmatched{};
    /// Whether to look up all non-blocking receives, not only those that do not say what they want: some may
    /// have been given up, or got less than they have room for.
    bool looks_up_receives = false;
    /// In some process calls of different threads waited at the same time. One sequence of blocking calls
    /// could wait for ever then, so that all calls start where they began and are waited for where they
    /// ended.
    bool threads_overlap = false;
};

/// What the replay of one process tells besides its lines.
struct ProcessSummary {
    explicit ProcessSummary(const Communicator* world) : tags(world) {}

    ReplayTags tags;
    MessageBalance balance;
    std::int64_t collectives = 0; ///< in which all processes take part
    Account account;
};

/// How a call stands in the replay.
enum class Replayed : std::uint8_t {
    exactly,
    measured, ///< it takes the time that it took
    failed,
    unfinished,
    unmatched,
    failed_elsewhere,
    cancelled,
    tested_in_vain,
    probed,
    in_standard_mode,
    unwaited,
    in_one_part,
    without_blocking,
    among_threads,
    as_messages,
    as_agreement,
};

/// Visits the calls of one process.
class ProcessReplay : public EventVisitor {
  public:
    /// All must outlive this.
    ProcessReplay(const Replay& replay, std::int64_t rank, const std::vector<TraceFile>& traces,
                  TextOutput& output, ProcessSummary& summary);

    void enter(const Call& call) override;
    void started(const Call& call, const Operation& operation) override;
    void completed(const Call& call, const Completion& completion) override;
    void leave(const Call& call) override;
    void mark(const Call& call) override;

    void finish();

    /// Whether a receive was written with another size than it got: it should have been looked up.
    bool has_other_size() const { return m_has_other_size; }

  private:
    /// A call that has begun.
    struct OpenCall {
        Replayed how = Replayed::exactly;
        std::vector<ReplayWait> waits; ///< what it waits for itself
        std::size_t completions = 0;
        bool knows_completions = true;
    };

    void compute(std::int64_t nanoseconds);
    void count(Replayed how, const TraceFile& trace);
    /// What the replay makes of an operation; appends what is to be waited for, which blocking actions do
    /// themselves.
    Replayed start(const Operation& operation, std::vector<ReplayWait>& waits);
    /// False if it is not known what has to be waited for.
    bool complete(const Completion& completion);

    /// The message that a probe takes is received from then on: others of its kind come after it.
    void take_probed(const Call& probe);
    std::int64_t tag_of(const Operation& operation, std::int64_t tag);
    bool is_unmatched(const std::set<OperationCall>& ends, const OperationCall& operation) const;
    bool may_block(const Operation& operation) const;
    Replayed send(const Operation& operation, std::vector<ReplayWait>& waits);
    Replayed receive(const Operation& operation, std::vector<ReplayWait>& waits);
    bool is_looked_up(const Operation& receive) const;
    std::optional<Received> look_up(const Operation& receive);
    void compare_size(const Completion& completion);
    const std::optional<Members>& members_of(const Communicator* communicator);
    Replayed collective(const Operation& operation, std::vector<ReplayWait>& waits);
    Replayed make_communicator(const Operation& operation, std::vector<ReplayWait>& waits);
    Replayed start_collective(const Operation& operation, Replayed as_messages,
                              std::vector<ReplayWait>& waits);
    std::vector<ReplayWait> exchange(const Exchange& round, std::int64_t tag);

    const Replay& m_replay;
    ProcessSummary& m_summary;
    std::int64_t m_rank;
    const std::vector<TraceFile>& m_traces;  ///< of the process
    std::optional<ReceivedByRid> m_received; ///< once it was asked for
    ReplayActions m_actions;
    std::unordered_map<std::int64_t, OpenCall> m_open;                   ///< by thread
    std::unordered_map<std::int64_t, std::vector<ReplayWait>> m_pending; ///< by rid
    std::unordered_map<std::int64_t, std::vector<ReplayWait>> m_probed;  ///< by mid
    std::unordered_map<const Communicator*, std::int64_t> m_started;     ///< non-blocking collectives
    std::unordered_map<const Communicator*, std::optional<Members>> m_members;
    std::optional<std::int64_t> m_end; ///< of the last call
    double m_rounded_away = 0;         ///< of the computation before it: parts of an operation
    bool m_has_other_size = false;
};

} // namespace hdtrace::exporter
