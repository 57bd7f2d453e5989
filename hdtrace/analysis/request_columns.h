// request_columns.h - operations with requests as a table with one row for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "hdtrace/analysis/columns.h"
#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/analysis/site_columns.h"
#include "hdtrace/matching/volumes.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// What did not block: started by one call, completed by another one. What was not completed lacks all that
/// tells of it. Times are nanoseconds since the epoch.
struct RequestColumns {
    Numbers<std::int32_t> rank, thread;    ///< that started it
    Texts name;                            ///< of a persistent one the call that made the request
    Numbers<std::int64_t> start, started;  ///< when the call that started it began, and returned
    OptionalNumbers wait_start, completed; ///< the same of the call that completed it
    Texts completed_by, outcome;
    OptionalNumbers bytes;              ///< that were moved, as far as they are told
    Numbers<std::int64_t> posted_bytes; ///< that were asked for
    OptionalNumbers peer, tag;
    Texts communicator, file;
    Numbers<std::int64_t> request, line;
    OptionalNumbers completion_line;
    SiteColumns site; ///< of the start

    /// Calls @p see with the name and the column, one by one.
    template <class See> void for_each(See&& see)
    {
        see("rank", rank);
        see("thread", thread);
        see("name", name);
        see("start", start);
        see("started", started);
        see("wait_start", wait_start);
        see("completed", completed);
        see("completed_by", completed_by);
        see("outcome", outcome);
        see("bytes", bytes);
        see("posted_bytes", posted_bytes);
        see("peer", peer);
        see("tag", tag);
        see("communicator", communicator);
        see("file", file);
        see("request", request);
        see("line", line);
        see("completion_line", completion_line);
        site.for_each(see);
    }
};

/// Fills the columns in the order of completion, at last with what was not completed.
class RequestRows : EventVisitor {
  public:
    /// Throws OpenError, ReadError.
    explicit RequestRows(std::shared_ptr<const OpenedProject> project);
    RequestRows(const RequestRows&) = delete;
    RequestRows& operator=(const RequestRows&) = delete;

    /// Adds what so many states of the top level tell; false at the end. Throws ReadError.
    bool read(std::size_t states);
    /// The columns so far, which are empty afterwards.
    RequestColumns take();

    std::vector<MissingEnd> missing() const { return m_states.missing(); }

  private:
    void leave(const Call& call) override;
    void started(const Call& call, const Operation& operation) override;
    void completed(const Call& call, const Completion& completion) override;
    void add_start(const Operation& operation);
    void add_completion(const Operation& operation, const Call* call, const Completion* completion);
    void add_pending();
    std::optional<std::int64_t> moved(const Operation& operation, const Completion& completion);

    std::shared_ptr<const OpenedProject> m_project;
    MergedTraces m_states;
    Volumes m_volumes{m_project->objects};
    EventWalk m_walk{{this}};
    /// What was asked for, of what is in flight, by rank and rid.
    std::unordered_map<std::int64_t, std::unordered_map<std::int64_t, std::int64_t>> m_posted;
    TextIndex m_names, m_completing;
    SiteIndex m_sites;
    RequestColumns m_columns;
};

} // namespace hdtrace
