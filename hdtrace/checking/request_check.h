// request_check.h - the lives of requests.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "hdtrace/checking/endings.h"
#include "hdtrace/matching/open_files.h"
#include "hdtrace/matching/requests.h"

namespace hdtrace {

class RequestCheck : public EventVisitor {
  public:
    /// Both must outlive it.
    RequestCheck(Findings& findings, Endings& endings) : m_findings(findings), m_endings(endings) {}

    void started(const Call& call, const Operation& operation) override;
    void completed(const Call& call, const Completion& completion) override;
    void leave(const Call& call) override;

    /// @p requests knows what was started and not completed.
    void finish(const RequestTable& requests);

  private:
    /// Of a persistent request.
    struct Persistent {
        CallPlace made;
        std::string call;
        std::int64_t time = 0;    ///< when it was made
        std::int64_t active = -1; ///< the rid of its start that is not complete
        std::int64_t last = -1;   ///< that of its last start
        const CallSite* last_start = nullptr;
        std::int64_t last_start_time = 0;
        std::int64_t partitions = 0; ///< 0: it is not sent in partitions
        std::set<std::int64_t> ready;
        bool was_started = false;
    };
    /// To a file, which is not complete.
    struct Access {
        std::int64_t fid = -1;
        std::string call;
        const CallSite* site = nullptr;
        std::optional<CallPlace> closed = {}; ///< where its file was closed meanwhile
    };
    using RequestId = std::pair<std::int64_t, std::int64_t>; // rank and rid

    void start(const Call& call, const Element& start);
    void note_told(const Call& call);
    bool may_be_active(std::int64_t rank, std::int64_t rid, std::int64_t started) const;
    void check_given_up(const Call& call, const Completion& completion);
    void check_access(const Call& call, const Completion& completion);
    void follow_file(const Call& call);
    void close(const Call& call);
    void make_ready(const Call& call);
    void check_partitions(const Persistent& request);
    void release(const Call& call);
    void report_not_started(const Persistent& request);
    const Persistent* started_by(std::int64_t rank, std::int64_t rid) const;

    Findings& m_findings;
    Endings& m_endings;
    std::map<RequestId, Persistent> m_persistent;
    std::map<RequestId, std::int64_t> m_request_of; ///< by the rid of a start: the rid of the request
    std::map<RequestId, Access> m_accesses;
    OpenFiles m_open_files;
    std::map<std::int64_t, std::int64_t>
        m_idle_waits;              ///< by rank: when it waited last for what is not active
    std::set<RequestId> m_awaited; ///< by calls that have not ended, and only end once they are complete
    std::set<std::int64_t> m_ended;
    std::set<RequestId> m_told; ///< operations that are complete, and their requests are not
    std::map<std::int64_t, std::int64_t> m_some_told; ///< by rank: when some were last, nobody knows which
};

} // namespace hdtrace
