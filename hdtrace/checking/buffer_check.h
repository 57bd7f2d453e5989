// buffer_check.h - memory that MPI still works on is used by another call, or was changed by the program.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "hdtrace/checking/call_buffers.h"
#include "hdtrace/checking/findings.h"
#include "hdtrace/checking/sends_during_receives.h"
#include "hdtrace/matching/events.h"
#include "hdtrace/matching/rank_table.h"

namespace hdtrace {

/// Needs what HDTRACE_FOR_CHECK adds to the traces; without it there is nothing to find.
class BufferCheck : public EventVisitor {
  public:
    /// @p findings must outlive it.
    explicit BufferCheck(Findings& findings) : m_findings(findings), m_buffers(findings.objects()) {}

    void enter(const Call& call) override;
    void leave(const Call& call) override;
    void started(const Call& call, const Operation& operation) override;
    void completed(const Call& call, const Completion& completion) override;

    /// What is not told yet: whether it is an error can be said at the end only. The first ones of each
    /// place.
    const std::vector<SendDuringReceive>& undecided() const { return m_undecided; }

  private:
    /// A call whose use of memory has not ended.
    struct User {
        std::string name;
        CallPlace place;
        std::int64_t rid = -1;
        std::int64_t window = -1;
        std::int64_t target = -1;
        std::string attached_to = {}; ///< whose buffered sends the memory is for; empty if it is for none
        bool only_sends = false, only_receives = false;
        bool has_conflict = false;
        std::vector<CallBuffer> ranges;
    };
    using Users = std::list<User>;
    struct InUse {
        const CallBuffer* range;
        Users::iterator user;
    };
    struct Process {
        Users users;
        std::map<std::int64_t, Users::iterator> by_rid;
        std::map<std::int64_t, std::vector<CallBuffer>> prepared; ///< of persistent requests, by their rid
        std::multimap<std::int64_t, InUse> by_begin;
        std::int64_t longest = 0; ///< of all ranges so far
    };

    static std::optional<std::pair<const CallBuffer*, const CallBuffer*>>
    find_own_overlap(const std::vector<CallBuffer>& ranges);
    void check_own(const User& user);
    void check_others(Process& process, User& user);
    void put_off(const User& send, const User& receive, const std::string& text);
    static bool has_alike(const Process& process, const User& user);
    void forget_equal(Process& process);
    void seen_complete(Process& process, const Call& call);
    void add(Process& process, User user);
    void remove(Process& process, Users::iterator user);
    template <class Test> void remove_if(Process& process, Test test);
    void report_early_uses(Process& process, const Call& call);
    void report_early_use(Process& process, const Call& call, std::string_view item, FindingKind kind);
    static const User* user_of(const Process& process, std::int64_t at, std::int64_t rid);

    /// Of two calls of a process.
    using TwoPlaces = std::tuple<std::int64_t, const CallSite*, const CallSite*>;

    Findings& m_findings;
    CallBuffers m_buffers;
    RankTable<Process> m_processes;
    std::set<TwoPlaces> m_told;
    std::map<TwoPlaces, std::size_t> m_undecided_at;
    std::vector<SendDuringReceive> m_undecided;
};

} // namespace hdtrace
