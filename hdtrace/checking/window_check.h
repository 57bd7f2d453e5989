// window_check.h - that windows are used in epochs, which begin and end as they must (MPI 4.1, 12.5).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "hdtrace/checking/endings.h"

namespace hdtrace {

class WindowCheck : public EventVisitor {
  public:
    /// Both must outlive it.
    WindowCheck(Findings& findings, Endings& endings) : m_findings(findings), m_endings(endings) {}

    void leave(const Call& call) override;

    void finish();

  private:
    /// Of a window in a process.
    struct Epochs {
        bool has_fence = false;                   ///< the last fence began an epoch
        bool has_access_since_fence = false;      ///< and that no other fence has completed
        CallPlace last_access;                    ///< where that is
        std::int64_t fences = 0;                  ///< so many were called
        std::map<std::int64_t, CallPlace> no_put; ///< which of the last ones promised that nobody changes it
        bool may_last = false;                    ///< the epoch that the last fence began, until another one
        std::optional<CallPlace> lock_inside;     ///< with an access, since that fence
        std::map<std::int64_t, CallPlace> locked; ///< by target
        std::optional<CallPlace> locked_all;
        std::optional<CallPlace> started; ///< an access epoch for a group
        std::optional<CallPlace> posted;  ///< an exposure epoch
        std::set<std::int64_t> targets;   ///< of that access epoch
    };

    void access_locked(std::int64_t target, Epochs& epochs);
    void access(const Call& call, Epochs& epochs);
    void synchronise(const Call& call, Epochs& epochs);
    void access_fenced(const Call& call, std::int64_t target, Epochs& epochs);
    const CallPlace* no_put_at(const Call& call, std::int64_t rank, std::int64_t fence) const;
    void fence(const Call& call, Epochs& epochs);
    void lock(const Call& call, Epochs& epochs);
    void unlock(const Call& call, Epochs& epochs);
    void close(const Call& call, Epochs& epochs);
    void end(const Call& call, std::optional<CallPlace>& open, const std::string& by);
    void open(const Call& call, std::optional<CallPlace>& opened, const std::string& what);
    void report(FindingKind kind, const Call& call, const std::string& text,
                const CallSite* other_site = nullptr);

    Findings& m_findings;
    Endings& m_endings;
    std::map<std::pair<std::int64_t, std::int64_t>, Epochs> m_windows; ///< by rank and wid
    std::set<std::int64_t> m_ended;
};

} // namespace hdtrace
