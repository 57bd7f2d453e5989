// findings.h - what checks report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/checking/kinds.h"
#include "hdtrace/matching/events.h"
#include "hdtrace/matching/messages.h"

namespace hdtrace {

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
};

/// Where a call is.
struct CallPlace {
    std::int64_t rank = 0;
    std::int64_t thread = 0;
    std::int64_t line = 0;
    const CallSite* site = nullptr;
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
    /// As a warning, whatever the kind says: the program knows of it and went on.
    void report_mild(FindingKind kind, const CallPlace& place, std::string text);
    /// Of a file that need not be a trace.
    void report_file(FindingKind kind, std::int64_t rank, const std::string& file, std::int64_t line,
                     std::string text, const CallSite* site = nullptr);

    /// What was reported since it was asked last.
    std::vector<Finding> take();

    const OpenedProject& project() const { return m_project; }
    const ObjectTable& objects() const { return m_project.objects; }

  private:
    const OpenedProject& m_project;
    std::vector<Finding> m_findings;
};

/// "app_node01_0_0.trc:17"
std::string file_and_line(const OpenedProject& project, const CallPlace& place);

} // namespace hdtrace
