// requests.h - which call completes what which call has started.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "hdtrace/format/traces.h"

namespace hdtrace {

/// An operation that has a request: a non-blocking one, one start of a persistent one, or a split collective.
struct Operation {
    std::int64_t rank = 0;
    std::int64_t rid = 0;
    /// What is done and with which arguments: the call that started it; for a persistent one the call that
    /// made the request (`Send_init`).
    Element call;
    std::int64_t thread = 0; ///< that started it
    std::int64_t time = 0;   ///< when the call that started it began, in nanoseconds since the epoch
    std::int64_t end = 0;    ///< and when it returned
    std::int64_t line = 0;   ///< and where it stands
};

using OperationPointer = std::shared_ptr<const Operation>;

enum class Outcome : std::uint8_t {
    completed,
    cancelled,
    freed, ///< the program gave up its request (`Request_free`); it may complete unseen
};

struct Completion {
    /// Null if the start was not seen: it is not selected, or the trace does not have it.
    OperationPointer operation;
    std::int64_t rid = 0;
    Outcome outcome = Outcome::completed;
    std::int64_t end = 0; ///< when the call returned that tells it, in nanoseconds since the epoch
    /// `For` of the completing call, with what was received; or that call itself. Belongs to the call.
    const Element* what = nullptr;
};

/// What one call did to requests, in the order in which it names them.
struct Progress {
    std::vector<OperationPointer> started;
    std::vector<Completion> completed;
};

/// The operations of all processes that were started and have not been completed. Calls must come in an order
/// in which starts stand before their completions, such as that of MergedTraces. Memory grows with the
/// operations in flight. For one thread at a time.
class RequestTable {
  public:
    /// Takes the next call, but not what is nested in it: those calls come before it. The result belongs to
    /// the table until the next call.
    const Progress& add(const TraceFile& trace, const State& call);

    /// What is in flight, by rank and rid.
    std::vector<OperationPointer> pending() const;

  private:
    struct Persistent {
        OperationPointer made; ///< what a start starts
        std::int64_t last_started = -1;
    };
    struct Process {
        std::unordered_map<std::int64_t, OperationPointer> pending;
        std::unordered_map<std::int64_t, Persistent> persistent; ///< by the rid of the request
    };

    void start(const TraceFile& trace, const State& call);
    void start_persistent(const TraceFile& trace, const State& call, const Element& start);
    void release(const TraceFile& trace, const State& call);
    void complete(const TraceFile& trace, const State& call, std::int64_t rid, const Element& what,
                  Outcome outcome);

    std::unordered_map<std::int64_t, Process> m_processes;
    Progress m_progress;
};

} // namespace hdtrace
