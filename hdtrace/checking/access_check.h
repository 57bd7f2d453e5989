// access_check.h - that one-sided accesses stay in the window, and that both sides describe the same data.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "hdtrace/checking/attached_memory.h"
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
    /// Tells what only the end shows.
    void finish();

  private:
    struct Elements {
        const MappedType& type;
        std::int64_t offset; ///< of the first one
        std::int64_t count;
    };
    /// Of memory that is not attached: the call that attaches it may come later, as clocks differ.
    struct Undecided {
        const Window* window;
        std::int64_t target;
        std::int64_t begin, end; ///< addresses there
        CallPlace place;
        std::string text;
    };

    void check_range(const Call& call, std::int64_t target);
    void check_attached(const Call& call, const Window& window, std::int64_t target,
                        const Elements& accessed);
    void check_data(const Call& call);
    void report(FindingKind kind, const Call& call, const std::string& text);

    Findings& m_findings;
    TypeMaps m_types;
    TypeSignatures m_signatures;
    std::set<const Window*> m_dynamic; ///< their parts have no size, and displacements are addresses there
    AttachedMemory m_attached;
    std::vector<Undecided> m_undecided;
    std::set<std::tuple<std::int64_t, const CallSite*, std::int64_t>> m_undecided_at; ///< rank, place, target
};

} // namespace hdtrace
