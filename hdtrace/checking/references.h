// references.h - that calls name objects which the project describes.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "hdtrace/checking/findings.h"

namespace hdtrace {

class ReferenceCheck : public EventVisitor {
  public:
    /// @p findings must outlive it.
    explicit ReferenceCheck(Findings& findings) : m_findings(findings) {}

    void leave(const Call& call) override;

  private:
    /// An attribute that names an object.
    struct Name {
        AttributeName attribute;
        ObjectKind kind;
    };

    /// By the slot of the key.
    using Names = std::array<std::vector<Name>, 64>;

    static Names names();
    static std::uint64_t bits_of(const Names& names);
    void check(const Call& call, const Element& element);
    void check(const Call& call, const Name& name, const Attribute& attribute, std::int64_t id);

    Findings& m_findings;
    const Names m_names = names();
    const std::uint64_t m_bits = bits_of(m_names);
    std::set<std::tuple<std::int64_t, ObjectKind, std::int64_t>> m_unknown; ///< rank, kind, id: told once
};

} // namespace hdtrace
