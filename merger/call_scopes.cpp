#include "merger/call_scopes.h"

#include <dwarf.h>

#include <algorithm>

namespace hdtrace::merger {

namespace {

class ScopeFinder {
  public:
    ScopeFinder(const std::vector<std::int64_t>& return_addresses, Steps& steps) : m_steps(steps)
    {
        for (const std::int64_t address : return_addresses) {
            if (address > 0)
                m_calls.push_back({{address, address_of_call(address)}});
        }
    }

    void read_unit(Dwarf_Die& unit, const OnCallScopes& handle)
    {
        m_touched.clear();
        for_each_covered(unit, [&](Call& call) { touch(call); });
        if (m_touched.empty())
            return;
        find_functions(unit, 0);
        for (Call* const call : m_touched) {
            if (!call->is_done)
                call->is_done = handle(unit, call->found);
            call->found.scopes = {};
            call->is_touched = false;
        }
    }

  private:
    struct Call {
        CallScopes found;
        bool is_done = false;
        bool is_touched = false; ///< by the unit that is being read
    };

    void touch(Call& call)
    {
        if (!call.is_touched)
            m_touched.push_back(&call);
        call.is_touched = true;
    }

    template <class Handle> void for_each_in(Dwarf_Addr begin, Dwarf_Addr end, Handle handle)
    {
        m_steps.count();
        const auto address = [](const Call& call) { return call.found.address; };
        for (auto call = std::ranges::lower_bound(m_calls, begin, {}, address);
             call != m_calls.end() && address(*call) < end; ++call) {
            m_steps.count();
            handle(*call);
        }
    }

    /// Calls handle(call) for the calls in the code of @p die.
    template <class Handle> void for_each_covered(Dwarf_Die& die, Handle handle)
    {
        Dwarf_Addr base = 0, begin = 0, end = 0;
        for (ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0;)
            for_each_in(begin, end, handle);
    }

    /// Functions may be inside namespaces, classes, Fortran modules and other functions.
    void find_functions(Dwarf_Die& scope, int depth)
    {
        constexpr int most = 100;
        Dwarf_Die child;
        if (depth == most || dwarf_child(&scope, &child) != 0)
            return;
        do {
            m_steps.count();
            switch (dwarf_tag(&child)) {
            case DW_TAG_subprogram:
                for_each_covered(child, [&](Call& call) { add_scopes(child, call); });
                [[fallthrough]];
            case DW_TAG_namespace:
            case DW_TAG_module:
            case DW_TAG_class_type:
            case DW_TAG_structure_type:
            case DW_TAG_union_type:
            case DW_TAG_lexical_block:
                find_functions(child, depth + 1);
                break;
            default:
                break;
            }
        } while (dwarf_siblingof(&child, &child) == 0);
    }

    void add_scopes(Dwarf_Die& function, Call& call)
    {
        constexpr std::size_t most = 300;
        std::vector<Dwarf_Die>& scopes = call.found.scopes;
        if (!scopes.empty() || call.is_done)
            return; // linkers let equal functions share their code
        touch(call);
        Dwarf_Die scope = function;
        do {
            scopes.push_back(scope);
        } while (scopes.size() < most && go_to_child_at(scope, call.found.address));
    }

    bool go_to_child_at(Dwarf_Die& scope, Dwarf_Addr address)
    {
        Dwarf_Die child;
        if (dwarf_child(&scope, &child) != 0)
            return false;
        do {
            m_steps.count();
            const int tag = dwarf_tag(&child);
            if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
                dwarf_haspc(&child, address) > 0) {
                scope = child;
                return true;
            }
        } while (dwarf_siblingof(&child, &child) == 0);
        return false;
    }

    std::vector<Call> m_calls; ///< ascending
    std::vector<Call*> m_touched;
    Steps& m_steps;
};

} // namespace

void find_call_scopes(Dwarf* dwarf, const std::vector<std::int64_t>& return_addresses, Steps& steps,
                      const OnCallScopes& handle)
{
    ScopeFinder finder(return_addresses, steps);
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    while (dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &die, nullptr) == 0)
        finder.read_unit(die, handle);
}

} // namespace hdtrace::merger
