// requests.h - which call completes what which call has started.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hdtrace/matching/events.h"
#include "hdtrace/matching/rank_table.h"
#include "hdtrace/matching/spare_nodes.h"

namespace hdtrace {

/// Of a call that starts it. What is done, and with which arguments, is still to be told.
Operation operation_of(const Call& call, std::int64_t rid, const CallFacts& facts);

/// Whether a call says that operations are complete without completing their requests
/// (`Request_get_status`): that of the request that it names; else of some of which it does not say which.
bool tells_completion_of_kept(const Call& call);

/// Whether an access to a file has failed that is over with @p completed, a `For` of the call. Where a call
/// waits for one request, its own error is that of the access.
bool is_of_failed_access(const Call& call, const Element& completed);

/// The operations with requests of all processes that were started and have not been completed. Calls must
/// come in an order in which starts stand before their completions, such as that of MergedTraces. Memory
/// grows with the operations in flight. For one thread at a time.
class RequestTable {
  public:
    /// What a call starts, in the order in which it names it. Belongs to the table until it is asked again.
    const std::vector<OperationPointer>& begin(const Call& call);
    /// What the same call completes. Belongs to the table until it is asked again.
    const std::vector<Completion>& end(const Call& call);

    /// What is in flight, by rank and rid.
    std::vector<OperationPointer> pending() const;
    /// Whether MPI_Cancel was called for an operation that is in flight.
    bool is_cancelled(std::int64_t rank, std::int64_t rid) const;

  private:
    struct Kept;
    using Pending = std::unordered_map<std::int64_t, std::shared_ptr<Kept>>; // by rid
    struct Persistent {
        std::shared_ptr<Kept> made; ///< what a start starts
        std::int64_t last_started = -1;
    };
    struct Process {
        Pending pending;
        std::unordered_map<std::int64_t, Persistent> persistent; ///< by the rid of the request
        std::unordered_set<std::int64_t> cancelled;              ///< of those that are pending
    };

    void start(const Call& call);
    void start_persistent(const Call& call, const Element& start);
    void add_pending(Process& process, std::int64_t rid, const Operation& operation, const Element& what,
                     const std::vector<Element>* children);
    void cancel(const Call& call);
    void release(const Call& call);
    void complete(const Call& call, std::int64_t rid, const Element& what, Outcome outcome);

    RankTable<Process> m_processes;
    std::vector<OperationPointer> m_started;
    std::vector<Completion> m_completed;
    std::vector<Pending::node_type> m_ended; ///< what m_completed points to
    detail::SpareNodes<Pending> m_spare;
};

} // namespace hdtrace
