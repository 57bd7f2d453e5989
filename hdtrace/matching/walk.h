// walk.h - walks over the calls of a program and tells what happens.
//
//     hdtrace::MessageMatcher messages(objects, on_message); // visitors
//     hdtrace::EventWalk walk({&messages});
//     walk.add_all(calls); // a MergedTraces
//     messages.finish();
#pragma once

#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "hdtrace/format/merged_traces.h"
#include "hdtrace/matching/events.h"
#include "hdtrace/matching/requests.h"

namespace hdtrace {

/// Tells its visitors, in their order, what happens in the calls that it is given: also in those inside
/// others, and between the marks with which the program says that a region of its own begins and ends
/// (docs/format.md). Calls must come in an order in which those of a thread do not go back in time, and
/// starts stand before their completions, such as that of MergedTraces. Memory grows with the operations in
/// flight and with how deep regions are nested, not with how long they are. For one thread at a time.
class EventWalk {
  public:
    /// The visitors must outlive the walk.
    explicit EventWalk(std::initializer_list<EventVisitor*> visitors) : m_visitors(visitors) {}

    /// All of a state of the top level. The same as begin() and end().
    void add(const TraceFile& trace, const State& state);
    /// What happens before anything that another thread does while the state lasts...
    void begin(const TraceFile& trace, const State& state);
    /// ... and what happens after it. Calls inside the state happen here.
    void end(const TraceFile& trace, const State& state);

    /// All states that are left. Throws ReadError.
    void add_all(MergedTraces& states);

    /// The operations in flight.
    const RequestTable& requests() const { return m_requests; }

  private:
    using Thread = std::pair<std::int64_t, std::int64_t>; // rank and number

    Call call_of(const TraceFile& trace, const State& state) const;
    void begin(const Call& call);
    void end(const Call& call);
    void mark(const TraceFile& trace, const State& event);
    void begin_region(const TraceFile& trace, const State& event);
    void end_region(const TraceFile& trace, const State& event);
    void start(const Call& call, const Operation& operation);
    void complete(const Call& call, const Completion& completion);
    std::int32_t open_regions(const TraceFile& trace) const;

    std::vector<EventVisitor*> m_visitors;
    RequestTable m_requests;
    std::map<Thread, std::vector<State>> m_regions; ///< open ones, the innermost last
};

} // namespace hdtrace
