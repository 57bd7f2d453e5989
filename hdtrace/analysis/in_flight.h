// in_flight.h - what a program has begun by a moment and not ended.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/matching/collectives.h"
#include "hdtrace/matching/messages.h"
#include "hdtrace/matching/spare_nodes.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// What has to be known of a run up to a moment to go on from there: what is read then matches as it would if
/// all had been read. Small, however long the run was until then.
struct Snapshot {
    /// A state or an event of the top level.
    struct Begun {
        std::size_t trace = 0; ///< its place in OpenedProject::existing_traces()
        State state;
    };
    /// The last call of a thread that has ended.
    struct LastCall {
        std::int64_t end = 0;
        std::string name; ///< empty if there was none
    };

    /// The last one that counts, in nanoseconds since the epoch: what ended by then is in the snapshot, and
    /// what lasts longer is read when one goes on.
    std::int64_t moment = 0;
    std::vector<Begun> begun; ///< in the order of the run
    std::vector<LastCall> last;
};

/// What threads are in at a moment, and what they have left open.
struct Pending {
    struct Activity {
        const TraceFile* trace = nullptr;
        /// The innermost state that it is in; that has no name between calls, but begins and ends when the
        /// last one ended.
        State state;
        std::string last;   ///< between calls: the name of the last one, or nothing before the first one
        std::string region; ///< of the program's own, as a path
        /// That ended the process by then, as it seems; it belongs to the project.
        const FatalSignal* signal = nullptr;
    };
    /// An operation with a request.
    struct Request {
        const TraceFile* trace = nullptr; ///< of the thread that started it
        /// The call that says what is done, with the times of the one that started it.
        State state;
    };

    std::vector<Activity> activities; ///< of threads that have made a call, in the order of their traces
    std::vector<Request> requests;    ///< by rank, and in the order in which they were started
    /// That have been sent and not received: their `receive` is missing. Ends say lines as far as known.
    std::vector<Message> messages;
    std::vector<Collective> collectives; ///< that not all members have called
    /// Processes of which it is not known what they have called: they are absent wherever they are members.
    std::set<std::int64_t> without_calls;
};

/// Is told what happens in a run and knows what is not over: calls that last, operations that are not
/// completed, messages that are not received, collective calls that others have not made, files and windows
/// that are open, requests that are prepared, regions that are not left. With each call comes what belongs to
/// it otherwise: of a `Sendrecv` of which the message is still on its way also the call that sent what it has
/// received, and of an `Irecv` the call that completed it, which may name others that are over. Memory grows
/// with what is in flight.
class InFlight : EventVisitor {
  public:
    /// Throws OpenError, ReadError. @p start: what was before the first state that will be told.
    explicit InFlight(std::shared_ptr<const OpenedProject> project, Snapshot start = {});
    InFlight(const InFlight&) = delete;
    InFlight& operator=(const InFlight&) = delete;

    /// A state or event of the top level, which is taken: another one is in its place then, of which the
    /// memory can be used again. They must come in the order in which they began.
    void add(const TraceFile& trace, State& state);
    /// Calls are over that ended by this moment, in nanoseconds since the epoch.
    void advance(std::int64_t moment);

    /// Of the moment to which it has advanced.
    Snapshot snapshot() const;
    /// Where the calls stand in a trace that are not over, but for those that last.
    std::set<std::int64_t> lines_of(const TraceFile& trace) const;
    /// What there is at the moment to which it has advanced. Traces belong to this object, which is of no use
    /// any more behind it.
    Pending pending();

  private:
    /// Calls that messages and collective operations connect.
    struct Connected {
        std::int64_t open = 0;    ///< what keeps them
        std::int64_t lasting = 0; ///< calls that have not ended, which do so, too
        std::vector<std::int64_t> calls;
    };
    struct Begun {
        const TraceFile* trace = nullptr;
        State state; ///< its line, and those of what is inside it, are its number here
        std::int64_t line = 0;
        bool lasts = false;
        std::int64_t joined = 0;                ///< collective operations that are not complete
        std::vector<std::int64_t> completed_by; ///< calls that it keeps, and that are not connected with it
        std::shared_ptr<Connected> connected;
    };
    using Calls = std::map<std::int64_t, Begun>;                         // by number
    using ObjectId = std::tuple<std::int64_t, ObjectKind, std::int64_t>; // rank, kind and id
    using Thread = std::pair<std::int64_t, std::int64_t>;                // rank and number

    void enter(const Call& call) override;
    void leave(const Call& call) override;
    void joined(const Call& call) override;
    void started(const Call& call, const Operation& operation) override;
    void completed(const Call& call, const Completion& completion) override;
    void made(const Call& call, ObjectKind kind, std::int64_t id) override;
    void freed(const Call& call, ObjectKind kind, std::int64_t id) override;
    template <class Joining> void join(const Joining& joining, std::int64_t number);
    void add(const Message& message);
    void add(const Collective& collective);

    void restore(Snapshot start);
    const Begun& begin(const TraceFile& trace, State& state);
    void end(std::int64_t number);
    void add_event(const TraceFile& trace, State event);
    void follow_prepared(const Begun& begun);
    void add_start(std::int64_t rank, const Element& start, std::int64_t number);
    void release(const ObjectId& prepared, std::int64_t number);
    void keep_while_it_lives(const ObjectId& object, std::int64_t number);
    void let_go(const ObjectId& object);

    std::int64_t ends_of(const Operation& operation) const;
    void open(std::int64_t number, std::int64_t count = 1);
    void close(std::int64_t number, std::int64_t count = 1);
    void keep_completing(std::int64_t start, std::int64_t completing);
    void drop_if_over(Connected& connected);
    void drop(std::int64_t number);
    bool has_ended(const CollectiveCall& call) const;
    void connect(std::int64_t number, std::int64_t other);

    Pending::Activity activity_in(const Begun& begun) const;
    std::vector<Pending::Activity> activities() const;
    std::map<std::int64_t, const FatalSignal*>
    ending_signals(const std::vector<Pending::Activity>& activities) const;
    void add_signals(std::vector<Pending::Activity>& activities) const;
    std::vector<Pending::Request> requests() const;
    std::int64_t line_of(std::int64_t number) const;
    const TraceFile* trace_of(std::int64_t number) const;
    std::size_t place_of(const TraceFile& trace) const { return m_places.at({trace.rank, trace.thread}); }

    std::shared_ptr<const OpenedProject> m_project;
    std::vector<TraceFile> m_traces;
    std::map<Thread, std::size_t> m_places; ///< in m_traces
    std::vector<Snapshot::LastCall> m_last; ///< of each trace
    std::set<std::int64_t> m_without_calls; ///< processes
    const bool m_matches; ///< what the processes have done to each other: not where first calls are missing,
                          ///< or one side
    MessageMatcher m_messages;
    CollectiveMatcher m_collectives;
    EventWalk m_walk;
    OpenRegions m_regions;
    std::int64_t m_moment = 0;
    std::int64_t m_last_number = 0;
    Calls m_begun;
    detail::SpareNodes<Calls> m_spare;
    Calls m_region_begins;                                     ///< of open regions
    std::set<std::pair<std::int64_t, std::int64_t>> m_lasting; ///< by the end: numbers
    std::map<ObjectId, std::int64_t> m_makers;                 ///< numbers of calls that made objects
    std::map<ObjectId, std::vector<std::int64_t>> m_starts;    ///< of prepared requests, as far as in flight
    /// What the call that ends completes: numbers, and how much is over by it.
    std::vector<std::pair<std::int64_t, std::int64_t>> m_over;
    std::vector<Message> m_unreceived;    ///< once it is asked what is pending
    std::vector<Collective> m_incomplete; ///< likewise
    bool m_is_asked = false;
};

} // namespace hdtrace
