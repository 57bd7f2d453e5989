// references.h - that calls name objects which the project describes.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>

#include "hdtrace/checking/findings.h"

namespace hdtrace {

class ReferenceCheck : public EventVisitor {
  public:
    /// @p findings must outlive it.
    explicit ReferenceCheck(Findings& findings) : m_findings(findings) {}

    void leave(const Call& call) override;

  private:
    void check(const Call& call, const Element& element);

    Findings& m_findings;
    std::set<std::tuple<std::int64_t, ObjectKind, std::int64_t>> m_unknown; ///< rank, kind, id: told once
};

} // namespace hdtrace
