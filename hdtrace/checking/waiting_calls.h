// waiting_calls.h - what the calls in which processes were when the trace ended were waiting for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/checking/findings.h"
#include "hdtrace/checking/open_ends.h"
#include "hdtrace/checking/wait_graph.h"
#include "hdtrace/checking/waiting_creations.h"
#include "hdtrace/checking/waiting_epochs.h"
#include "hdtrace/format/objects.h"
#include "hdtrace/matching/beginnings.h"
#include "hdtrace/matching/collective_objects.h"
#include "hdtrace/matching/events.h"
#include "hdtrace/matching/messages.h"

namespace hdtrace {

/// A call that had not ended, and for whom it waits.
struct WaitingCall {
    std::int64_t thread = 0;
    std::int64_t line = 0;
    const CallSite* site = nullptr;
    std::string text;                         ///< the call with its arguments
    std::vector<StartedOperation> operations; ///< that it waits for
    Wait wait;
    bool polls = false; ///< it asks again and again, and may give that up
    /// It polls, and nothing tells whether it does something else meanwhile that ends it.
    bool may_do_more = false;
};

/// Follows all calls of a program, also those that have not ended, and tells at the end who waits for whom.
/// A process that only asks, again and again until the run is ended, whether something has happened, waits
/// for it, too, unless it computes between. What it cannot know for certain it takes as fulfilled, such as
/// processes with several threads, of which another one may go on. Where only the last calls are there
/// (`--keep-last`), counting tells nothing, but time does: what could have ended a call that has been waiting
/// for long is still to be done. Memory grows with the operations in flight, the communicators and the
/// processes. For one thread at a time.
class WaitingCalls : public EventVisitor {
  public:
    /// @p project must outlive it.
    explicit WaitingCalls(const OpenedProject& project)
        : m_project(project), m_objects(project.objects), m_collective_objects(project.objects),
          m_lacks_first(Beginnings(project.project).are_missing()), m_open(project.objects),
          m_epochs(project.objects), m_groups(project.objects), m_leaders(project.objects)
    {
    }

    void leave(const Call& call) override;
    void joined(const Call& call) override;
    void started(const Call& call, const Operation& operation) override;
    void completed(const Call& call, const Completion& completion) override;

    /// What MessageMatcher found no other end for.
    void add_rest(const Message& message);
    /// The process can never go on for another reason: it waits for nobody.
    void leave_out(std::int64_t rank) { m_left_out.insert(rank); }
    /// The run was not over then, in nanoseconds since the epoch.
    void lasted_until(std::int64_t time) { m_end = std::max(m_end, time); }
    /// What is left over, once find() was called.
    const OpenEnds& open_ends() const { return m_open; }

    /// By rank, once all calls and all that is left over are known. @p pending is what was started and is not
    /// complete.
    std::map<std::int64_t, WaitingCall> find(const std::vector<OperationPointer>& pending);
    /// The processes that called MPI_Finalize and came back.
    const std::set<std::int64_t>& ended() const { return m_ended; }

  private:
    /// A call that has not ended, as it stands in the trace.
    struct Unfinished {
        TraceFile trace;
        State state;
        const CallFacts* facts = nullptr;
        std::optional<CollectiveObject> object = {}; ///< if the call is collective
    };
    /// How far a process that polls has come. All in nanoseconds.
    struct PollingTime {
        std::int64_t count = 0;      ///< of polls until then
        std::int64_t time = 0;       ///< since the epoch
        std::int64_t inside = 0;     ///< how long they took
        std::int64_t cpu = 0;        ///< the thread's processor time
        std::int64_t inside_cpu = 0; ///< what of it they took, as it seems by those that are recorded
    };
    /// Calls of a process, one behind the other, that found that nothing has happened.
    struct Polling {
        std::vector<Unfinished> questions; ///< those that differ, as far as they are recorded
        bool has_more_questions = false;
        PollingTime first, last;
        std::int64_t asked_last = 0; ///< when a poll began that has not ended; 0: there is none
        std::optional<PollingTime> first_with_cpu, last_with_cpu; ///< where the trace tells it
    };
    enum class Certainty : std::uint8_t { none, perhaps, certain };
    using ThreadId = std::pair<std::int64_t, std::int64_t>;  // rank and thread
    using RequestId = std::pair<std::int64_t, std::int64_t>; // rank and rid
    using PendingById = std::map<RequestId, const Operation*>;
    using MemberId = std::pair<CollectiveObject, std::int64_t>; // and rank
    using Place = std::pair<CollectiveObject, std::int64_t>;    // of an operation: its number
    /// A process's part of a collective operation.
    struct Joined {
        Place place;
        CollectiveKind kind;
        std::int64_t root; ///< if the operation has one
    };
    /// Members that have not called what others are in: all of them, and in the order of the communicator.
    struct Missing {
        SharedRanks ranks;
        std::vector<const Communicator::Member*> in_order;
    };
    /// And the side that the receiver is of.
    using Senders = std::pair<const Communicator*, std::optional<std::int64_t>>;

    void note_poll(const Call& call);
    void note_last_poll(const Call& call);
    static Certainty only_waits(const Polling& polling);
    void take_polls_as_waiting();
    void forget_what_is_uncertain(const PendingById& pending);
    bool waits(std::int64_t rank) const;
    Wait wait_of(std::int64_t rank, const Unfinished& call, const SharedRanks& unfinalized);
    std::vector<StartedOperation> operations_of(std::int64_t rank, const Unfinished& call,
                                                const PendingById& pending) const;
    Wait wait_for_requests(std::int64_t rank, const Unfinished& call);
    WaitCondition condition_of(std::int64_t rank, std::int64_t rid);
    WaitCondition condition_of(const OpenEnd& end, bool is_send);
    WaitCondition condition_of(std::int64_t rank, const Joined& joined);
    WaitCondition condition_of(std::int64_t rank, const Joined& joined, const Missing& missing) const;
    const Missing& missing_of(const Place& place);
    SharedRanks::Ranks missing_at(const Place& place) const;
    void add_other_side(const Place& place, SharedRanks::Ranks& missing) const;
    const SharedRanks& senders_to(const Communicator& communicator, std::int64_t rank);
    SharedRanks not_finalized() const;
    std::int64_t calls_of(const CollectiveObject& object, std::int64_t rank) const;

    const OpenedProject& m_project;
    const ObjectTable& m_objects;
    CollectiveObjects m_collective_objects;
    std::map<ThreadId, Unfinished> m_unfinished;
    std::map<std::int64_t, Polling> m_polling;                ///< by rank
    std::set<std::int64_t> m_may_do_more;                     ///< of those that poll
    std::int64_t m_end = 0;                                   ///< of the run, as far as it is known
    std::unordered_map<std::int64_t, std::int64_t> m_threads; ///< by rank: the first that called something
    std::set<std::int64_t> m_with_threads;                    ///< processes of which several did
    std::map<MemberId, std::int64_t> m_calls;                 ///< collective ones that began
    std::map<RequestId, Joined> m_collectives;                ///< those that have requests
    bool m_lacks_first;                                       ///< calls of some processes
    std::vector<Message> m_rest;                              ///< then: of requests
    OpenEnds m_open;
    WaitingEpochs m_epochs;
    GroupMeetings m_groups;
    LeaderMeetings m_leaders;
    std::map<Place, LeaderMeetings::Meeting> m_meetings; ///< of leaders that are in MPI_Intercomm_create
    std::map<LeaderMeetings::Meeting, Place> m_places;   ///< the other way round
    std::set<std::int64_t> m_left_out;
    std::set<std::int64_t> m_ended;
    std::set<std::int64_t> m_finalizing; ///< and those that are in MPI_Finalize
    std::map<Place, Missing> m_missing;
    std::map<Senders, SharedRanks> m_senders; ///< who may send to a receive from anybody
};

} // namespace hdtrace
