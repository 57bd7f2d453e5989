// argument_check.h - that calls are given what they may be given, and why they failed.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hdtrace/checking/argument_rules.h"
#include "hdtrace/checking/findings.h"

namespace hdtrace {

/// A process ended inside a call that failed or that was given something wrong.
struct WrongEnd {
    std::int64_t rank = 0;
    bool is_cause = false;   ///< of the end of all processes
    bool is_refused = false; ///< because of the arguments
};

class ArgumentCheck : public EventVisitor {
  public:
    /// @p findings must outlive it.
    explicit ArgumentCheck(Findings& findings) : m_findings(findings), m_context(findings.project()) {}

    void made(const Call& call, ObjectKind kind, std::int64_t id) override { m_context.made(call, kind, id); }
    void freed(const Call& call, ObjectKind kind, std::int64_t id) override
    {
        m_context.freed(call, kind, id);
    }
    void leave(const Call& call) override;

    /// Those since it was asked last.
    std::vector<WrongEnd> take_ends() { return std::exchange(m_ends, {}); }

  private:
    std::string sentence_about(const Call& call, const WrongArgument& wrong) const;
    void report_failed(const Call& call, std::optional<WrongArgument> wrong);

    Findings& m_findings;
    ArgumentContext m_context;
    std::vector<WrongEnd> m_ends;
};

} // namespace hdtrace
