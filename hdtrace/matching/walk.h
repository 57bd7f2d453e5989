// walk.h - walks over the calls of a program and tells what happens.
//
//     hdtrace::MessageMatcher messages(objects, on_message); // visitors
//     hdtrace::EventWalk walk({&messages});
//     walk.add_all(calls); // a MergedTraces
//     messages.finish();
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "hdtrace/format/merged_traces.h"
#include "hdtrace/matching/events.h"
#include "hdtrace/matching/regions.h"
#include "hdtrace/matching/requests.h"

namespace hdtrace {

/// Calls that failed did nothing, except those that got more than there was room for.
bool did_something(const State& call);

/// Tells its visitors, in their order, what happens in the calls that it is given: also in those inside
/// others, and between the marks with which the program says that a region of its own begins and ends
/// (docs/format.md). Calls must come in an order in which those of a thread do not go back in time, and
/// starts stand before their completions, such as that of MergedTraces. Memory grows with the operations in
/// flight and with how deep regions are nested, not with how long they are. For one thread at a time.
class EventWalk {
  public:
    /// What visitors are told: all, or least: of calls enter(), leave(), mark(), made() and freed().
    enum class Follow { calls, operations };

    /// The visitors must outlive the walk.
    explicit EventWalk(std::initializer_list<EventVisitor*> visitors, Follow follow = Follow::operations)
        : m_visitors(visitors), m_entering(visitors), m_leaving(visitors), m_joining(visitors),
          m_starting(visitors), m_completing(visitors), m_follow(follow)
    {
    }

    /// All of a state of the top level. The same as begin() and end().
    void add(const TraceFile& trace, const State& state);
    /// What happens before anything that another thread does while the state lasts...
    void begin(const TraceFile& trace, const State& state);
    /// ... and what happens after it. Calls inside the state happen here.
    void end(const TraceFile& trace, const State& state);

    /// Up to so many of the states that are left, and how many there were: fewer at the end. Throws
    /// ReadError.
    std::size_t add_some(MergedTraces& states, std::size_t most);
    /// All states that are left. Throws ReadError.
    void add_all(MergedTraces& states);

    /// How many were handed out.
    std::uint64_t calls() const { return m_calls; }
    /// The operations in flight.
    const RequestTable& requests() const { return m_requests; }
    /// What Call::region and Call::own_region mean.
    const RegionPaths& regions() const { return m_regions.paths(); }

  private:
    using Visitors = std::vector<EventVisitor*>;

    void leave_out_uninterested();
    Call call_of(const TraceFile& trace, const State& state, std::int64_t number) const;
    void begin(const Call& call);
    void end(const Call& call);
    void begin_operations(const Call& call);
    void end_operations(const Call& call);
    void mark(const TraceFile& trace, const State& event);
    void begin_region(const TraceFile& trace, const State& event);
    void end_region(const TraceFile& trace, const State& event);
    void tell_of_region(const Call& region, void (EventVisitor::*what)(const Call&));
    void start(const Call& call, const Operation& operation);
    void complete(const Call& call, const Completion& completion);

    Visitors m_visitors;
    /// Those that may want one of the events there. Most want few.
    Visitors m_entering, m_leaving, m_joining, m_starting, m_completing;
    std::uint64_t m_calls = 0;
    std::int64_t m_numbers = 0; ///< that were given to calls and regions
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> m_begun; ///< by rank and thread: begin()'s
    Follow m_follow;
    RequestTable m_requests;
    OpenRegions m_regions;
};

} // namespace hdtrace
