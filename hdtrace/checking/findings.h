// findings.h - what checks report.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/checking/kinds.h"
#include "hdtrace/matching/collective_objects.h"
#include "hdtrace/matching/events.h"
#include "hdtrace/matching/messages.h"

namespace hdtrace {

/// A call site, or none, that is looked up when somebody asks: nothing is told of most places.
class SiteOfCall {
  public:
    SiteOfCall() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): who knows the site gives it
    SiteOfCall(const CallSite* site) : m_site(site) {}
    /// @p objects must outlive it.
    SiteOfCall(const ObjectTable& objects, std::int64_t rank, std::int64_t number)
        : m_objects(&objects), m_rank(rank), m_number(number)
    {
    }
    // NOLINTNEXTLINE(google-explicit-constructor): it stands for the site
    operator const CallSite*() const { return m_objects ? m_objects->call_site(m_rank, m_number) : m_site; }

  private:
    const CallSite* m_site = nullptr;
    const ObjectTable* m_objects = nullptr;
    std::int64_t m_rank = 0, m_number = -1;
};

/// Where a call is.
struct CallPlace {
    std::int64_t rank = 0;
    std::int64_t thread = 0;
    std::int64_t line = 0;
    SiteOfCall site = {};
};

/// What a call started, which another one waits for.
struct StartedOperation {
    std::string call; ///< its name
    const CallSite* site = nullptr;
};

/// A process that can never go on.
struct WaitingProcess {
    static constexpr std::size_t most_awaited = 100;

    CallPlace place;
    std::string call;                         ///< with its arguments
    std::vector<StartedOperation> operations; ///< that the call waits for, if it is a Wait or a Test
    std::set<std::int64_t> awaited;           ///< for whom it waits in vain: the first most_awaited of them
    std::size_t awaited_count = 0;            ///< how many they are
    bool is_for_any = false;                  ///< one of them would do
    bool is_in_circle = false;                ///< it is waited for as well
    bool polls = false;                       ///< it asks again and again, and may give that up
};

struct Finding {
    FindingKind kind{};
    Severity severity = Severity::error;
    std::int64_t rank = -1; ///< -1 is unknown
    std::string file;
    std::int64_t line = 0; ///< 0 is unknown
    std::string text;
    std::string because;            ///< the file of the trace that is not whole, if that is why; else empty
    const CallSite* site = nullptr; ///< of the call, if it is known
    const CallSite* other_site = nullptr; ///< of the call that it differs from
    std::vector<WaitingProcess> waiting;  ///< of a deadlock: all that can never go on because of it
};

CallPlace place_of(const ObjectTable& objects, const Call& call);
CallPlace place_of(const ObjectTable& objects, const Operation& operation);

/// Collects what checks find.
class Findings {
  public:
    /// @p project must outlive it.
    explicit Findings(const OpenedProject& project) : m_project(project) {}

    void report(FindingKind kind, const CallPlace& place, std::string text,
                const CallSite* other_site = nullptr, std::string because = {});
    void report_deadlock(Severity severity, const CallPlace& place, std::string text,
                         std::vector<WaitingProcess> waiting);
    /// Whatever severity the kind has: a warning if the program knows of it and went on, an error if it ended
    /// the program.
    void report_as(Severity severity, FindingKind kind, const CallPlace& place, std::string text,
                   const CallSite* other_site = nullptr);
    /// Of a file that need not be a trace.
    void report_file(FindingKind kind, std::int64_t rank, const std::string& file, std::int64_t line,
                     std::string text, const CallSite* site = nullptr);

    /// What others have collected.
    void add(std::vector<Finding> findings);

    /// What was reported since it was asked last.
    std::vector<Finding> take();

    /// There may be more of this kind: the run is too large for all to be compared.
    void set_incomplete(FindingKind kind) { m_incomplete.insert(kind); }
    const std::set<FindingKind>& incomplete() const { return m_incomplete; }

    const OpenedProject& project() const { return m_project; }
    const ObjectTable& objects() const { return m_project.objects; }

  private:
    const OpenedProject& m_project;
    std::vector<Finding> m_findings;
    std::set<FindingKind> m_incomplete;
};

/// " of Isend at main (a.c:7)"; empty if there are none.
std::string text_of(const std::vector<StartedOperation>& operations);
/// On what members call together: "WORLD", "a window of WORLD", or a file. Its communicator must be known.
std::string text_of(const OpenedProject& project, const CollectiveObject& object);

/// "app_node01_0_0.trc:17"
std::string file_and_line(const OpenedProject& project, const CallPlace& place);

} // namespace hdtrace
