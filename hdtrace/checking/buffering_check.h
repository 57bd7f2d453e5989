// buffering_check.h - whether a program goes on only because messages were buffered.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hdtrace/checking/findings.h"
#include "hdtrace/checking/wait_graph.h"
#include "hdtrace/matching/collective_objects.h"
#include "hdtrace/matching/rank_table.h"

namespace hdtrace {

/// Lets the processes make their calls a second time, with the same messages, as if every standard send
/// waited for its receive, and every collective call for all members. If they wait for each other then, the
/// program is right only as long as messages are buffered and members go on early. Where a call found out
/// what was complete (Test, Waitany), which would not be complete then, a process would do something else:
/// nothing is said of it any more.
///
/// Memory grows with how far processes get apart in this; where that is too far, nothing is said. Programs
/// with several threads in a process are left out.
class BufferingCheck : public EventVisitor {
  public:
    /// @p findings must outlive it.
    explicit BufferingCheck(Findings& findings)
        : m_findings(findings), m_collective_objects(findings.objects())
    {
    }

    void started(const Call& call, const Operation& operation) override;
    void completed(const Call& call, const Completion& completion) override;
    void joined(const Call& call) override;
    void leave(const Call& call) override;
    /// A message with both ends, after its two operations have started.
    void add(const Message& message);

    void finish();

  private:
    /// An end of a message: of a blocking call the line in the trace, else the request.
    struct End {
        std::int64_t rank = 0;
        std::int64_t line = -1;
        std::int64_t rid = -1;
        bool is_send = false;
        bool operator==(const End&) const = default;
    };
    struct EndHash {
        std::size_t operator()(const End& end) const
        {
            std::uint64_t hash = end.is_send ? 1 : 0;
            for (const std::int64_t part : {end.rank, end.line, end.rid})
                hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9E3779B97F4A7C15u;
            return hash ^ (hash >> 32);
        }
    };
    /// What is known of an end, as long as anybody may ask.
    struct EndState {
        End end;
        const CallFacts* facts = nullptr; ///< of the call that has the arguments
        std::int64_t site = -1;           ///< and where it is
        EndState* other = nullptr;        ///< of the message, if it is known; which names this one, too
        std::size_t steps = 0;            ///< that name it and are not over
        bool has_begun = false;           ///< the operation was seen
        bool is_open = false;             ///< its request has not been completed
        bool is_posted = false;           ///< in the second run
        bool is_done = false;             ///< nothing waits for its other end any more
    };
    /// How far the members are with the collective operations on an object.
    struct Meetings {
        CollectiveObject object;
        std::unordered_map<std::int64_t, std::int64_t> called;  ///< operations, by rank
        std::unordered_map<std::int64_t, std::int64_t> reached; ///< likewise in the second run
        std::deque<std::size_t> arrived; ///< how many members have reached an operation, from the first on
        std::int64_t complete = 0;       ///< that all members have reached, which are not in `arrived`
    };
    /// A collective operation: the one with this number.
    struct Meeting {
        Meetings* meetings = nullptr;
        std::int64_t number = 0;
    };
    /// What a process does, one behind the other.
    struct Step {
        CallPlace place;
        std::string call;
        std::vector<EndState*> begins;      ///< posted when the step is reached
        std::vector<EndState*> waits_for;   ///< whose other ends must be posted before it is left
        std::vector<Meeting> joins = {};    ///< when the step is reached
        std::vector<Meeting> meetings = {}; ///< that all members must have joined before it is left
        bool finds_out = false;             ///< what is complete: it might as well find something else

        bool is_empty() const
        {
            return begins.empty() && waits_for.empty() && joins.empty() && meetings.empty();
        }
        void clear();
        void swap(Step& other);
    };
    /// First in, first out. Uses the memory of steps again.
    class Steps {
      public:
        bool empty() const { return m_first == m_end; }
        Step& front() { return m_steps[m_first]; }
        const Step& front() const { return m_steps[m_first]; }
        /// Takes what is in @p step, which is empty then.
        void push(Step& step);
        void pop();

      private:
        std::vector<Step> m_steps; ///< of which those from the first to before the end are in it
        std::size_t m_first = 0, m_end = 0;
    };
    struct Process {
        Steps steps;
        bool is_in_first = false; ///< what the first step begins is posted
        std::int64_t thread = -1; ///< the only one
    };

    static End end_of(std::int64_t rank, const MessageEnd& end, bool is_send);
    void add_end(const Operation& operation, bool is_send);
    EndState& state_of(const End& end);
    static void add_to(std::vector<EndState*>& ends, EndState& end);
    void post(EndState& end);
    void set_done(EndState& end);
    /// Both ends of a message for which nobody waits any more.
    void forget_if_over(EndState& end);
    /// The next operation of the process on the object.
    Meeting join(std::int64_t rank, const CollectiveObject& object);
    void complete_requests(const Call& call);
    void advance(bool is_all_known);
    bool advance(std::int64_t rank, Process& process, bool is_all_known);
    void reach(std::int64_t rank, Process& process);
    static void arrive(std::int64_t rank, Meetings& meetings);
    static bool is_posted(const EndState& end, bool is_all_known);
    static bool has_reached(const Meeting& meeting, std::int64_t member);
    bool is_complete(const Meeting& meeting) const;
    const SharedRanks& missing_in(const Meeting& meeting);
    Wait wait_of(const Step& step);
    std::vector<StartedOperation> started_operations(const Step& step) const;
    std::string meeting_text(const Step& step) const;
    void report(const Circle& circle);
    void give_up();

    Findings& m_findings;
    CollectiveObjects m_collective_objects;
    RankTable<Process> m_processes;
    Step m_step; ///< of the call that is being read
    std::unordered_map<End, EndState, EndHash> m_ends;
    std::map<CollectiveObject, Meetings> m_meetings;
    std::map<std::pair<const Meetings*, std::int64_t>, SharedRanks> m_missing; ///< at the end, by number
    std::map<std::pair<std::int64_t, std::int64_t>, Meeting> m_joined; ///< not complete, by rank and request
    std::size_t m_steps = 0;                                           ///< in all processes
    std::size_t m_steps_until_advance = 0;
    bool m_is_given_up = false;
};

} // namespace hdtrace
