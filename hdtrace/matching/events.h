// events.h - what happens in a program, as the walk over its traces tells it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "hdtrace/calls/calls.h"
#include "hdtrace/format/traces.h"

namespace hdtrace {

/// A call, or a state or a moment of the program's own, with what is known about it. Belongs to the walk.
struct Call {
    const TraceFile& trace;
    const State& state;
    const CallFacts& facts;
    std::int32_t depth = 0;      ///< how many states and regions are around it
    std::int32_t nesting = 0;    ///< how many states: 0 is the top level of its trace
    bool is_inside_call = false; ///< the MPI library made it inside another call
    /// The regions of the program's own that it is in, as a path of EventWalk::regions(); 0 is outside.
    std::int32_t region = 0;
    /// Of a region itself: the path that ends with it. 0: it is none.
    std::int32_t own_region = 0;
    /// Of a region that has ended: when the first one began in it that goes on without it.
    std::optional<std::int64_t> overlapped_from = {};
    /// Calls, states and regions in the order in which the walk was told that they began, from 0; of a region
    /// whose beginning it was not told, that of the end. -1: a moment.
    std::int64_t number = -1;
    std::int64_t parent = -1; ///< the number of the state that it is in; -1: none

    bool has_failed() const { return state.has("rc"); }
};

/// Something that takes time and perhaps outlasts the call that starts it: a blocking call itself, what a
/// non-blocking one starts, one start of a persistent request, a split collective.
struct Operation {
    std::int64_t rank = 0;
    std::int64_t rid = -1; ///< -1: it has no request
    /// What is done and with which arguments: the call that started it; for a persistent one the call that
    /// made the request (`Send_init`).
    const Element* call = nullptr;
    const CallFacts* facts = nullptr; ///< about that call
    /// What that call says about each member of a communicator; null if it is not known any more.
    const std::vector<Element>* children = nullptr;
    std::int64_t thread = 0;  ///< that started it
    std::int64_t time = 0;    ///< when the call that started it began, in nanoseconds since the epoch
    std::int64_t end = 0;     ///< and when it returned
    std::int64_t line = 0;    ///< and where it stands
    std::int64_t site = -1;   ///< its `site`; -1 is unknown
    std::int64_t number = -1; ///< its Call::number
};

using OperationPointer = std::shared_ptr<const Operation>;

enum class Outcome : std::uint8_t {
    completed,
    cancelled,
    failed,            ///< with an error of its own, while others of the same call may have completed
    freed,             ///< the program gave up its request (`Request_free`); it may complete unseen
    perhaps_cancelled, ///< the same after `Cancel`: nothing tells whether it was cancelled or has completed
};

struct Completion {
    /// Null if the start was not seen: it is not selected, or the trace does not have it. Belongs to the
    /// walk.
    const Operation* operation = nullptr;
    std::int64_t rid = -1;
    Outcome outcome = Outcome::completed;
    std::int64_t end = 0; ///< when the call returned that tells it, in nanoseconds since the epoch
    /// `For` of the completing call, with what was received; or that call itself. Belongs to the call.
    const Element* what = nullptr;
    /// MPI_Cancel was called for it, so that a call that waits for it waits for no other process (MPI 4.1,
    /// 3.8.4), also if what it started was not cancelled.
    bool cancel_was_asked = false;
};

/// Gets the events of a walk. Of each call: enter(), what it starts, the calls inside it, what it completes,
/// leave(). What belongs to the walk is gone when the function returns. An operation of a call that failed is
/// none, but a receive of a message that was too large (`MPI_ERR_TRUNCATE`) is one.
///
/// A function that is not overridden says so when it is called first, and is not called again: walks have
/// many visitors, and most of them want few of the events.
class EventVisitor {
  public:
    /// The functions below, as bits.
    enum class Event : std::uint16_t {
        enter = 1,
        leave = 2,
        mark = 4,
        started = 8,
        completed = 16,
        sent = 32,
        received = 64,
        joined = 128,
        accessed = 256,
        made = 512,
        freed = 1024,
    };

    virtual ~EventVisitor() = default;

    /// A call or a region of the program's own begins. Of a region only name and time are known.
    virtual void enter(const Call&) { ignore(Event::enter); }
    virtual void leave(const Call&) { ignore(Event::leave); }
    /// A moment that the program marked, or the value of a counter.
    virtual void mark(const Call&) { ignore(Event::mark); }

    virtual void started(const Call&, const Operation&) { ignore(Event::started); }
    virtual void completed(const Call&, const Completion&) { ignore(Event::completed); }

    /// Of an operation that has started: it sends a message.
    virtual void sent(const Call&, const Operation&) { ignore(Event::sent); }
    /// Of an operation that has completed: it received a message, as completion.what tells.
    virtual void received(const Call&, const Completion&) { ignore(Event::received); }
    /// Of a call that has begun: all members of `facts.members` make it, also if it failed here.
    virtual void joined(const Call&) { ignore(Event::joined); }
    /// Of an operation that has started: it reads or writes a file.
    virtual void accessed(const Call&, const Operation&) { ignore(Event::accessed); }

    /// The call, which has ended, made or freed an object; @p id is -1 if the call does not say which one.
    virtual void made(const Call&, ObjectKind, std::int64_t /*id*/) { ignore(Event::made); }
    virtual void freed(const Call&, ObjectKind, std::int64_t /*id*/) { ignore(Event::freed); }

    bool wants(Event event) const { return !(m_ignored & static_cast<std::uint16_t>(event)); }
    bool wants_any(std::initializer_list<Event> events) const
    {
        return std::ranges::any_of(events, [this](Event event) { return wants(event); });
    }

  private:
    void ignore(Event event) { m_ignored |= static_cast<std::uint16_t>(event); }

    std::uint16_t m_ignored = 0;
};

} // namespace hdtrace
