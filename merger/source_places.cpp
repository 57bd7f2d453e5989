#include "merger/source_places.h"

#include "merger/elf_file.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <gelf.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace hdtrace::merger {

namespace {

/// Calls are in front of their return addresses, which may be those of the next line, or the next function.
Dwarf_Addr address_of_call(std::int64_t return_address)
{
    return static_cast<Dwarf_Addr>(return_address) - 1;
}

/// Names are made by programs, too.
std::string shortened(std::string text)
{
    constexpr std::size_t most = 1000;
    if (text.size() > most)
        text = text.substr(0, most) + "...";
    return text;
}

bool is_mangled(std::string_view name)
{
    return name.starts_with("_Z");
}

/// Without what compilers call the parts that they made of a function.
std::string demangled(const char* name)
{
    constexpr std::size_t most = 4096;
    if (is_mangled(name) && std::strlen(name) <= most) {
        int status = 0;
        const std::unique_ptr<char, decltype(&std::free)> text(
            abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
        const std::string_view function = text ? text.get() : "";
        if (!function.empty())
            return shortened(std::string(function.substr(0, function.find(" [clone "))));
    }
    return shortened(name);
}

std::string text_of(Dwarf_Die& die, unsigned int name)
{
    Dwarf_Attribute memory;
    Dwarf_Attribute* const attribute = dwarf_attr_integrate(&die, name, &memory);
    const char* const text = attribute ? dwarf_formstring(attribute) : nullptr;
    return text ? text : "";
}

std::optional<Dwarf_Word> number_of(Dwarf_Die& die, unsigned int name)
{
    Dwarf_Attribute memory;
    Dwarf_Attribute* const attribute = dwarf_attr(&die, name, &memory);
    Dwarf_Word number = 0;
    return attribute && dwarf_formudata(attribute, &number) == 0 ? std::optional(number) : std::nullopt;
}

/// Compilers write names beginning with where they were started.
std::string file_name(Dwarf_Die& unit, const char* name)
{
    const std::string folder = *name == '/' ? "" : text_of(unit, DW_AT_comp_dir);
    return shortened(folder.empty() ? name : folder + "/" + name);
}

/// C++ functions with scopes and parameters, others as the programmer called them.
std::string function_name(Dwarf_Die& die)
{
    if (const std::string name = text_of(die, DW_AT_linkage_name); is_mangled(name))
        return demangled(name.c_str());
    return shortened(text_of(die, DW_AT_name));
}

/// Finds the places of one object file.
class PlaceFinder {
  public:
    explicit PlaceFinder(const std::vector<std::int64_t>& return_addresses)
    {
        for (const std::int64_t address : return_addresses) {
            if (address > 0)
                m_calls.push_back({address, address_of_call(address), {}, {}, {}});
        }
    }

    void read_dwarf(Dwarf* dwarf)
    {
        Dwarf_CU* unit = nullptr;
        Dwarf_Die die;
        while (dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &die, nullptr) == 0) {
            bool is_wanted = false;
            for_each_covered(die, [&](Call& call) {
                read_line(die, call);
                is_wanted = true;
            });
            if (!is_wanted)
                continue;
            find_functions(die, 0);
            for (Call& call : m_calls)
                add_places(die, call);
        }
    }

    /// The names of functions of which nothing is known yet.
    void read_symbols(Elf* elf, unsigned int table)
    {
        for (Elf_Scn* section = elf_nextscn(elf, nullptr); section; section = elf_nextscn(elf, section)) {
            GElf_Shdr header;
            if (gelf_getshdr(section, &header) && header.sh_type == table)
                read_symbols(elf, section, header);
        }
    }

    std::map<std::int64_t, SourcePlaces> take()
    {
        std::map<std::int64_t, SourcePlaces> result;
        for (Call& call : m_calls) {
            if (call.places.empty())
                call.places.emplace_back();
            SourcePlace& outermost = call.places.back();
            // Of functions in unnamed namespaces only the symbol tells the scope.
            if (outermost.function.empty() || (!call.has_full_name && is_mangled(call.symbol)))
                outermost.function = demangled(call.symbol.c_str());
            const SourcePlace& place = call.places.front();
            if (!place.function.empty() || !place.file.empty())
                result.emplace(call.return_address, std::move(call.places));
        }
        return result;
    }

  private:
    struct Call {
        std::int64_t return_address;
        Dwarf_Addr address;
        SourcePlace line;                 ///< without the function
        std::vector<Dwarf_Die> functions; ///< the outermost first
        SourcePlaces places;
        bool has_full_name = false; ///< the outermost function, with its scope
        std::string symbol = {};
        GElf_Xword symbol_size = 0;
    };

    /// Files that refer to themselves, or say the same again and again, take no more time than this.
    void count_step()
    {
        constexpr std::int64_t most = 100'000'000;
        if (++m_steps > most)
            throw std::runtime_error("its debug information is too large, or wrong");
    }

    template <class Handle> void for_each_in(Dwarf_Addr begin, Dwarf_Addr end, Handle handle)
    {
        count_step();
        for (auto call = std::ranges::lower_bound(m_calls, begin, {}, &Call::address);
             call != m_calls.end() && call->address < end; ++call) {
            count_step();
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

    void read_line(Dwarf_Die& unit, Call& call)
    {
        Dwarf_Line* const line = dwarf_getsrc_die(&unit, call.address);
        int number = 0;
        const char* const file = line ? dwarf_linesrc(line, nullptr, nullptr) : nullptr;
        if (file && dwarf_lineno(line, &number) == 0 && number > 0)
            call.line = {{}, file_name(unit, file), number};
    }

    /// Functions may be inside namespaces, classes, Fortran modules and other functions.
    void find_functions(Dwarf_Die& scope, int depth)
    {
        constexpr int most = 100;
        Dwarf_Die child;
        if (depth == most || dwarf_child(&scope, &child) != 0)
            return;
        do {
            count_step();
            switch (dwarf_tag(&child)) {
            case DW_TAG_subprogram:
                for_each_covered(child, [&](Call& call) { add_functions(child, call); });
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

    void add_functions(Dwarf_Die& function, Call& call)
    {
        constexpr std::size_t most = 100;
        if (!call.functions.empty() || !call.places.empty())
            return; // linkers let equal functions share their code
        call.functions.push_back(function);
        Dwarf_Die scope = function;
        while (call.functions.size() < most && go_to_child_at(scope, call.address)) {
            if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine)
                call.functions.push_back(scope);
        }
    }

    bool go_to_child_at(Dwarf_Die& scope, Dwarf_Addr address)
    {
        Dwarf_Die child;
        if (dwarf_child(&scope, &child) != 0)
            return false;
        do {
            count_step();
            const int tag = dwarf_tag(&child);
            if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
                dwarf_haspc(&child, address) > 0) {
                scope = child;
                return true;
            }
        } while (dwarf_siblingof(&child, &child) == 0);
        return false;
    }

    /// The innermost function is at the line of the address, the others where the next inner one is called.
    void add_places(Dwarf_Die& unit, Call& call)
    {
        if (call.functions.empty() && call.line.file.empty())
            return;
        if (!call.functions.empty())
            call.has_full_name = is_mangled(text_of(call.functions.front(), DW_AT_linkage_name));
        SourcePlace place = std::exchange(call.line, {});
        for (; !call.functions.empty(); call.functions.pop_back()) {
            Dwarf_Die& function = call.functions.back();
            place.function = function_name(function);
            call.places.push_back(std::exchange(place, place_of_inlining(unit, function)));
        }
        if (call.places.empty())
            call.places.push_back(place);
    }

    static SourcePlace place_of_inlining(Dwarf_Die& unit, Dwarf_Die& function)
    {
        const auto file = number_of(function, DW_AT_call_file), line = number_of(function, DW_AT_call_line);
        Dwarf_Files* files = nullptr;
        std::size_t count = 0;
        if (!file || !line || dwarf_getsrcfiles(&unit, &files, &count) != 0)
            return {};
        const char* const name = dwarf_filesrc(files, *file, nullptr, nullptr);
        if (!name || *line == 0 || *line > INT_MAX)
            return {};
        return {{}, file_name(unit, name), static_cast<std::int64_t>(*line)};
    }

    void read_symbols(Elf* elf, Elf_Scn* section, const GElf_Shdr& header)
    {
        Elf_Data* const data = elf_getdata(section, nullptr);
        if (!data || header.sh_entsize == 0)
            return;
        const auto count = static_cast<int>(std::min<GElf_Xword>(data->d_size / header.sh_entsize, INT_MAX));
        for (int i = 0; i < count; ++i) {
            GElf_Sym symbol;
            if (!gelf_getsym(data, i, &symbol))
                return;
            if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
                continue;
            for_each_in(symbol.st_value, symbol.st_value + symbol.st_size, [&](Call& call) {
                const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name);
                const bool is_closer = call.symbol.empty() || symbol.st_size < call.symbol_size;
                if (name && is_closer) {
                    call.symbol = name;
                    call.symbol_size = symbol.st_size;
                }
            });
        }
    }

    std::vector<Call> m_calls; ///< ascending
    std::int64_t m_steps = 0;
};

/// Throws std::runtime_error.
void check_identity(const ElfFile& object, const WantedPlaces& wanted)
{
    // Programs may be started in the second in which they are linked, and starts have only whole seconds.
    constexpr std::int64_t second = 1'000'000'000;
    const bool is_same = object.build_id() == wanted.build_id;
    const bool is_old = wanted.used_from > 0 && object.changed() < wanted.used_from + second;
    if (!is_same || (wanted.build_id.empty() && !is_old))
        throw std::runtime_error("it has changed since");
}

} // namespace

std::map<std::int64_t, SourcePlaces> find_source_places(const WantedPlaces& wanted,
                                                        const std::string& debug_directory)
{
    const ElfFile object(wanted.path);
    check_identity(object, wanted);
    std::unique_ptr<ElfFile> debug_file;
    if (!object.dwarf())
        debug_file = find_debug_file(object, wanted.path, debug_directory);
    const ElfFile& informed = debug_file ? *debug_file : object;
    PlaceFinder finder(wanted.return_addresses);
    if (informed.dwarf())
        finder.read_dwarf(informed.dwarf());
    finder.read_symbols(informed.elf(), SHT_SYMTAB);
    finder.read_symbols(object.elf(), SHT_DYNSYM);
    return finder.take();
}

} // namespace hdtrace::merger
