// access_check.h - that one-sided accesses stay in the window, and that both sides describe the same data.
#pragma once

#include <set>

#include "hdtrace/checking/findings.h"
#include "hdtrace/checking/type_signature.h"
#include "hdtrace/matching/type_map.h"

namespace hdtrace {

class AccessCheck : public EventVisitor {
  public:
    /// @p findings must outlive it.
    explicit AccessCheck(Findings& findings)
        : m_findings(findings), m_types(findings.objects()), m_signatures(findings.objects())
    {
    }

    void leave(const Call& call) override;

  private:
    void check_range(const Call& call, std::int64_t target);
    void check_data(const Call& call);
    void report(FindingKind kind, const Call& call, const std::string& text);

    Findings& m_findings;
    TypeMaps m_types;
    TypeSignatures m_signatures;
    std::set<const Window*> m_dynamic; ///< their parts have no size, and displacements are addresses there
};

} // namespace hdtrace
