// variable_check.h - that buffers stay in the variables of the program in which they begin, and hold what
// these are declared to hold.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hdtrace/checking/call_buffers.h"
#include "hdtrace/checking/declared_values.h"
#include "hdtrace/checking/findings.h"
#include "hdtrace/checking/type_signature.h"

namespace hdtrace {

/// Needs what HDTRACE_FOR_CHECK adds to the traces and to the project, and debug information of the program.
/// Of memory that was allocated only that is known which pointers in the calling function tell.
class VariableCheck : public EventVisitor {
  public:
    /// @p findings must outlive it.
    explicit VariableCheck(Findings& findings)
        : m_findings(findings), m_buffers(findings.objects()), m_signatures(findings.objects())
    {
    }

    void leave(const Call& call) override;

  private:
    /// Variables that are counted from one address.
    struct Scope {
        std::int64_t address = 0;
        const std::vector<Variable>* variables = nullptr;

        const Variable* find(std::int64_t address_in_memory) const;
    };
    /// Those of a call.
    struct Scopes {
        std::vector<Scope> frames; ///< by their addresses, the innermost first
        std::vector<Scope> objects;
    };
    /// A variable, and where it is.
    struct Placed {
        const Variable* variable = nullptr;
        std::int64_t begin = 0;

        std::int64_t end() const { return begin + variable->size; }
    };
    /// What a buffer was compared with.
    struct Asked {
        const Variable* variable;
        const Datatype* datatype;
        std::int64_t offset;
        std::int64_t size;

        auto operator<=>(const Asked&) const = default;
    };

    template <class VariablesOf>
    std::vector<Scope> scopes_in(const Call& call, const AttributeName& list, VariablesOf variables_of) const;
    Scopes scopes_of(const Call& call) const;
    static std::optional<Placed> find(const Scopes& scopes, std::int64_t address);
    void check_buffer(const Call& call, const CallBuffer& buffer, const Placed& placed);
    void check_type(const Call& call, const CallBuffer& buffer, const Placed& placed);
    std::optional<Misfit> misfit(const Call& call, const CallBuffer& buffer, const Variable& variable,
                                 std::int64_t begin);
    void check_pointers(const Call& call, const CallBuffer& buffer, const Scopes& scopes);
    void report(const Call& call, const CallBuffer& buffer, const Misfit& found, const Variable& variable);
    bool goes_beyond(const Call& call, const CallBuffer& buffer, const Placed& placed);
    void check_window(const Call& call, std::string_view item, const Scopes& scopes);
    bool is_told(const Call& call, const Variable& variable);

    Findings& m_findings;
    CallBuffers m_buffers;
    TypeSignatures m_signatures;
    std::set<Asked> m_fitting; ///< calls come again and again
    std::set<std::tuple<std::int64_t, const CallSite*, const Variable*>> m_told;
};

} // namespace hdtrace
