// argument_check.h - that calls are given what they may be given, and why they failed.
#pragma once

#include <set>

#include "hdtrace/checking/argument_rules.h"
#include "hdtrace/checking/endings.h"

namespace hdtrace {

class ArgumentCheck : public EventVisitor {
  public:
    /// Both must outlive it.
    ArgumentCheck(Findings& findings, Endings& endings)
        : m_findings(findings), m_endings(endings), m_context(findings.project())
    {
    }

    void made(const Call& call, ObjectKind kind, std::int64_t id) override { m_context.made(call, kind, id); }
    void freed(const Call& call, ObjectKind kind, std::int64_t id) override
    {
        m_context.freed(call, kind, id);
    }
    void leave(const Call& call) override;

    /// Ended inside a call whose arguments are why.
    const std::set<std::int64_t>& refused() const { return m_refused; }

  private:
    std::string sentence_about(const Call& call, const WrongArgument& wrong) const;
    void report_failed(const Call& call, std::optional<WrongArgument> wrong);

    Findings& m_findings;
    Endings& m_endings;
    ArgumentContext m_context;
    std::set<std::int64_t> m_refused;
};

} // namespace hdtrace
