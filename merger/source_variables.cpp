#include "merger/source_variables.h"

#include "merger/call_scopes.h"
#include "merger/data_places.h"
#include "merger/debug_information.h"
#include "merger/frame_table.h"
#include "merger/source_types.h"

#include <dwarf.h>
#include <gelf.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

namespace hdtrace::merger {

namespace {

// Projects have to stay small enough for readers, whatever a program, or a file that is wrong, says: programs
// that people write have fewer.
constexpr std::size_t most_in_place = 1000;
constexpr std::size_t most_in_all_places = 200'000;
constexpr std::size_t most_in_object = 100'000;

bool is_artificial(Dwarf_Die& die)
{
    Dwarf_Attribute memory;
    Dwarf_Attribute* const attribute = dwarf_attr_integrate(&die, DW_AT_artificial, &memory);
    bool is = false;
    return attribute && dwarf_formflag(attribute, &is) == 0 && is;
}

std::int64_t end_of(const SourceVariable& variable)
{
    return variable.at + variable.size;
}

/// Nothing if its size is not known.
std::optional<SourceVariable> variable_at(Dwarf_Die& die, std::int64_t at, SourceType type)
{
    std::int64_t end = 0;
    if (type.size <= 0 || __builtin_add_overflow(at, type.size, &end))
        return std::nullopt;
    return SourceVariable{at,
                          type.size,
                          shortened(text_of(die, DW_AT_name)),
                          std::move(type.text),
                          std::move(type.contents),
                          type.is_pointer};
}

void forget_contents(SourceVariable& variable)
{
    variable.contents = {};
    variable.is_pointer = false;
}

void forget_type(SourceVariable& variable)
{
    variable.type.clear();
    forget_contents(variable);
}

/// Of two at the same place what both say.
void keep_common_type(SourceVariable& variable, const SourceVariable& other)
{
    if (variable.type != other.type)
        variable.type.clear();
    if (variable.contents != other.contents || variable.is_pointer != other.is_pointer)
        forget_contents(variable);
}

/// Memory that variables share may be used as any of them: such ones become one that covers them, with the
/// name of the largest. Those without a name hold others, too, but are not told of.
SourceVariables united(const std::set<SourceVariable>& variables)
{
    SourceVariables result;
    std::int64_t largest = 0; // of the last one, with a name
    for (const SourceVariable& variable : variables) {
        if (result.empty() || variable.at >= end_of(result.back())) {
            result.push_back(variable);
            largest = variable.name.empty() ? 0 : variable.size;
            continue;
        }
        SourceVariable& last = result.back();
        if (variable.at == last.at && variable.size == last.size)
            keep_common_type(last, variable);
        else
            forget_type(last);
        if (!variable.name.empty() && variable.size > largest) {
            last.name = variable.name;
            largest = variable.size;
        }
        last.size = std::max(end_of(last), end_of(variable)) - last.at;
    }
    std::erase_if(result, [](const SourceVariable& variable) { return variable.name.empty(); });
    return result;
}

/// The variables of one stack frame.
class StackReader {
  public:
    StackReader(Dwarf_Die& unit, CallScopes& call, FrameTable& frames, SourceTypes& types, Steps& steps)
        : m_call(call), m_frames(frames), m_types(types), m_steps(steps)
    {
        Dwarf_Line* const line = dwarf_getsrc_die(&unit, call.address);
        const char* const file = line ? dwarf_linesrc(line, nullptr, nullptr) : nullptr;
        if (file && dwarf_lineno(line, &m_line) == 0)
            m_file = file;
    }

    SourceVariables read()
    {
        const auto is_inlined = [](Dwarf_Die& scope) {
            return dwarf_tag(&scope) == DW_TAG_inlined_subroutine;
        };
        const auto innermost = std::ranges::find_if(m_call.scopes.rbegin(), m_call.scopes.rend(), is_inlined);
        for (Dwarf_Die& scope : std::span(m_call.scopes.begin(), innermost.base()))
            read(scope, false);
        for (Dwarf_Die& scope : std::span(innermost.base(), m_call.scopes.end()))
            read(scope, dwarf_tag(&scope) == DW_TAG_lexical_block);
        return united(m_found);
    }

  private:
    /// @p may_begin_behind: compilers say of blocks, as those of gfortran, that they begin before they do.
    void read(Dwarf_Die& scope, bool may_begin_behind)
    {
        Dwarf_Die child;
        if (dwarf_child(&scope, &child) != 0)
            return;
        do {
            m_steps.count();
            const int tag = dwarf_tag(&child);
            if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) &&
                m_found.size() < most_in_place && !(may_begin_behind && is_declared_behind(child)))
                add(child);
        } while (dwarf_siblingof(&child, &child) == 0);
    }

    /// The call: something else is where the variable will be.
    bool is_declared_behind(Dwarf_Die& die) const
    {
        int line = 0;
        const char* const file = m_file ? dwarf_decl_file(&die) : nullptr;
        return file && dwarf_decl_line(&die, &line) == 0 && line > m_line && std::strcmp(file, m_file) == 0;
    }

    void add(Dwarf_Die& die)
    {
        const auto place = place_at(die, DW_AT_location, m_call.address, m_steps);
        const auto at = place ? offset_of(*place) : std::nullopt;
        if (!at || is_artificial(die))
            return;
        SourceType type = place->holds_address ? m_types.type_of_address(die) : m_types.followed_type_of(die);
        if (auto variable = variable_at(die, *at, std::move(type)))
            m_found.insert(std::move(*variable));
    }

    /// From the canonical frame address.
    std::optional<std::int64_t> offset_of(const DataPlace& place)
    {
        if (place.from == DataPlace::From::pointer)
            return offset_from_register(place);
        if (place.from != DataPlace::From::frame_base)
            return std::nullopt;
        auto base = frame_base();
        if (!base || __builtin_add_overflow(base->offset, place.offset, &base->offset))
            return std::nullopt;
        if (base->from == DataPlace::From::frame_address)
            return base->offset;
        return offset_from_register(*base);
    }

    std::optional<DataPlace> frame_base()
    {
        auto base = place_at(m_call.scopes.front(), DW_AT_frame_base, m_call.address, m_steps);
        if (!base || base->holds_address)
            return std::nullopt;
        if (base->from == DataPlace::From::frame_address)
            return base;
        if (base->from == DataPlace::From::in_register) // as Clang says what the register points to
            base->from = DataPlace::From::pointer;
        return base->from == DataPlace::From::pointer ? base : std::nullopt;
    }

    std::optional<std::int64_t> offset_from_register(const DataPlace& place)
    {
        if (!m_rule)
            m_rule.emplace(m_frames.rule_at(m_call.address));
        const std::optional<FrameRule>& rule = *m_rule;
        std::int64_t offset = 0;
        if (!rule || rule->register_number != place.register_number ||
            __builtin_sub_overflow(place.offset, rule->offset, &offset))
            return std::nullopt;
        return offset;
    }

    CallScopes& m_call;
    const char* m_file = nullptr; ///< where the call is; null if it is not known
    int m_line = 0;
    FrameTable& m_frames;
    SourceTypes& m_types;
    Steps& m_steps;
    std::optional<std::optional<FrameRule>> m_rule; ///< once it was needed
    std::set<SourceVariable> m_found;
};

/// Finds the variables of one object file that last.
class StaticFinder {
  public:
    explicit StaticFinder(const UsedObject& object)
    {
        read_sections(object.object().elf());
        read_symbols(object.informed().elf(), SHT_SYMTAB);
        read_symbols(object.object().elf(), SHT_DYNSYM);
    }

    SourceVariables find(Dwarf* dwarf)
    {
        Dwarf_CU* unit = nullptr;
        Dwarf_Die die;
        while (dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &die, nullptr) == 0)
            read(die, 0);
        return united(m_found);
    }

  private:
    /// Of the file, without code and what each thread has.
    void read_sections(Elf* elf)
    {
        for (Elf_Scn* section = elf_nextscn(elf, nullptr); section; section = elf_nextscn(elf, section)) {
            GElf_Shdr header;
            const auto* const known = gelf_getshdr(section, &header);
            const GElf_Xword kind = SHF_ALLOC | SHF_EXECINSTR | SHF_TLS;
            std::int64_t end = 0; // also of what variables may be made larger to
            if (known && (header.sh_flags & kind) == SHF_ALLOC &&
                !__builtin_add_overflow(header.sh_addr, header.sh_size, &end))
                m_sections.emplace_back(header.sh_addr, end);
        }
    }

    void read_symbols(Elf* elf, unsigned int table)
    {
        for (Elf_Scn* section = elf_nextscn(elf, nullptr); section; section = elf_nextscn(elf, section)) {
            GElf_Shdr header;
            if (gelf_getshdr(section, &header) && header.sh_type == table && header.sh_entsize != 0)
                read_symbols(section, header.sh_entsize);
        }
    }

    void read_symbols(Elf_Scn* section, GElf_Xword entry_size)
    {
        Elf_Data* const data = elf_getdata(section, nullptr);
        if (!data)
            return;
        const auto count = static_cast<int>(std::min<GElf_Xword>(data->d_size / entry_size, INT_MAX));
        GElf_Sym symbol;
        for (int i = 0; i < count && gelf_getsym(data, i, &symbol); ++i) {
            const int type = GELF_ST_TYPE(symbol.st_info);
            const bool is_data = type == STT_OBJECT || type == STT_COMMON || type == STT_NOTYPE;
            if (!is_data || symbol.st_shndx == SHN_UNDEF || symbol.st_size == 0)
                continue;
            GElf_Xword& size = m_symbol_sizes[symbol.st_value];
            size = std::max(size, symbol.st_size);
        }
    }

    void read(Dwarf_Die& scope, int depth)
    {
        constexpr int most = 100;
        Dwarf_Die child;
        if (depth == most || dwarf_child(&scope, &child) != 0)
            return;
        do {
            m_steps.count();
            switch (dwarf_tag(&child)) {
            case DW_TAG_variable:
                if (const auto variable = variable_of(child))
                    add(*variable);
                break;
            case DW_TAG_common_block:
                read_common_block(child);
                break;
            case DW_TAG_subprogram:
            case DW_TAG_inlined_subroutine:
            case DW_TAG_lexical_block:
            case DW_TAG_namespace:
            case DW_TAG_module:
            case DW_TAG_class_type:
            case DW_TAG_structure_type:
            case DW_TAG_union_type:
                read(child, depth + 1);
                break;
            default:
                break;
            }
        } while (dwarf_siblingof(&child, &child) == 0);
    }

    std::optional<SourceVariable> variable_of(Dwarf_Die& die)
    {
        const auto place = lasting_place(die);
        if (!place || place->from != DataPlace::From::zero || place->holds_address || place->offset <= 0 ||
            is_artificial(die))
            return std::nullopt;
        return variable_at(die, place->offset, m_types.type_of(die));
    }

    /// Programs send a whole one from its first variable on.
    void read_common_block(Dwarf_Die& block)
    {
        SourceVariable whole;
        whole.name = shortened(text_of(block, DW_AT_name));
        Dwarf_Die child;
        for (bool has_child = dwarf_child(&block, &child) == 0; has_child;
             has_child = dwarf_siblingof(&child, &child) == 0) {
            m_steps.count();
            const auto part = dwarf_tag(&child) == DW_TAG_variable ? variable_of(child) : std::nullopt;
            if (!part)
                continue;
            const std::int64_t begin = whole.size == 0 ? part->at : std::min(whole.at, part->at);
            const std::int64_t end = std::max(whole.size == 0 ? 0 : end_of(whole), end_of(*part));
            whole.at = begin;
            whole.size = end - begin;
        }
        if (whole.size > 0)
            add(whole);
    }

    /// Linkers leave variables out, whose descriptions then tell places where nothing is.
    void add(SourceVariable variable)
    {
        if (const auto symbol = m_symbol_sizes.find(static_cast<GElf_Addr>(variable.at));
            symbol != m_symbol_sizes.end() && symbol->second > static_cast<GElf_Xword>(variable.size) &&
            is_data(variable.at, symbol->second)) {
            // As initialised flexible array members of structs.
            variable.size = static_cast<std::int64_t>(symbol->second);
            forget_type(variable);
        }
        if (m_found.size() < most_in_object && is_data(variable.at, static_cast<GElf_Xword>(variable.size)))
            m_found.insert(std::move(variable));
    }

    bool is_data(std::int64_t at, GElf_Xword size)
    {
        const auto begin = static_cast<GElf_Addr>(at);
        return std::ranges::any_of(m_sections, [&](const auto& section) {
            m_steps.count();
            return begin >= section.first && begin < section.second && size <= section.second - begin;
        });
    }

    std::vector<std::pair<GElf_Addr, GElf_Addr>> m_sections; ///< their beginnings and ends
    std::unordered_map<GElf_Addr, GElf_Xword> m_symbol_sizes;
    std::set<SourceVariable> m_found;
    Steps m_steps;
    SourceTypes m_types{m_steps};
};

} // namespace

std::map<std::int64_t, SourceVariables>
find_stack_variables(const UsedObject& object, const std::vector<std::int64_t>& return_addresses)
{
    std::map<std::int64_t, SourceVariables> result;
    if (!object.informed().dwarf())
        return result;
    Steps steps;
    FrameTable frames(object, steps);
    SourceTypes types(steps);
    std::size_t count = 0;
    find_call_scopes(object.informed().dwarf(), return_addresses, steps,
                     [&](Dwarf_Die& unit, CallScopes& call) {
                         if (!call.scopes.empty() && count < most_in_all_places) {
                             SourceVariables variables = StackReader(unit, call, frames, types, steps).read();
                             count += variables.size();
                             result.emplace(call.return_address, std::move(variables));
                         }
                         return !call.scopes.empty();
                     });
    return result;
}

SourceVariables find_static_variables(const UsedObject& object)
{
    Dwarf* const dwarf = object.informed().dwarf();
    return dwarf ? StaticFinder(object).find(dwarf) : SourceVariables{};
}

} // namespace hdtrace::merger
