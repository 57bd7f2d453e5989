// collective_calls.h - that the members of a communicator call the same, and give what the others take.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "hdtrace/checking/endings.h"
#include "hdtrace/checking/type_signature.h"
#include "hdtrace/matching/collectives.h"
#include "hdtrace/matching/type_map.h"

namespace hdtrace {

/// Follows no calls itself: gets what a CollectiveMatcher with arguments has matched.
class CollectiveCheck {
  public:
    /// Both must outlive it.
    CollectiveCheck(Findings& findings, Endings& endings)
        : m_findings(findings), m_endings(endings), m_signatures(findings.objects()),
          m_types(findings.objects())
    {
    }

    void check(const Collective& collective);
    /// @p pending is what was started and not completed: it never will be, perhaps.
    void finish(const std::vector<OperationPointer>& pending);

  private:
    /// Some members never called, and perhaps the trace tells why.
    struct Incomplete {
        Collective collective;
        std::string reason;
    };

    void check_members(const Collective& collective, const CollectiveCall& model);
    void check_roots(const Collective& collective);
    bool check_call(const Collective& collective, const CollectiveCall& model, const CollectiveCall& call);
    void check_agreement(const Collective& collective);
    void check_data(const Collective& collective);
    void check_edges(const Collective& collective);
    void check_absent(const Collective& collective);
    bool is_stuck_in(const CollectiveCall& call) const;
    bool was_told(const CollectiveCall& call) const;
    bool report_other_communicator(const Incomplete& one, const Incomplete& other);
    void report_absent(const Incomplete& incomplete);
    void explain_ends(const Collective& collective);
    void report(FindingKind kind, const Collective& collective, const CollectiveCall& call,
                const CollectiveCall& other, const std::string& here, const std::string& there);

    bool is_out_of_order(const CollectiveObject& object) const;
    std::string operation_text(const Collective& collective) const;
    std::string text_of_absent(const Collective& collective) const;

    Findings& m_findings;
    Endings& m_endings;
    TypeSignatures m_signatures;
    TypeMaps m_types;
    std::set<CollectiveObject> m_out_of_order; ///< what follows there says nothing
    std::set<CollectiveObject> m_cut_short;    ///< of them: where nothing is wrong but that traces end
    std::vector<Incomplete> m_incomplete;
};

} // namespace hdtrace
