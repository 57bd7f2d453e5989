#include "merger/source_places.h"

#include "merger/call_scopes.h"
#include "merger/debug_information.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <gelf.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace hdtrace::merger {

namespace {

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

/// Of the call itself, without the function; empty if it is not known.
SourcePlace line_of(Dwarf_Die& unit, Dwarf_Addr address)
{
    Dwarf_Line* const line = dwarf_getsrc_die(&unit, address);
    int number = 0;
    const char* const file = line ? dwarf_linesrc(line, nullptr, nullptr) : nullptr;
    if (!file || dwarf_lineno(line, &number) != 0 || number <= 0)
        return {};
    return {{}, file_name(unit, file), number};
}

/// Where the compiler put @p function into another one.
SourcePlace place_of_inlining(Dwarf_Die& unit, Dwarf_Die& function)
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

/// The innermost function is at the line of the address, the others where the next inner one is called.
SourcePlaces places_of(Dwarf_Die& unit, CallScopes& call)
{
    SourcePlaces places;
    SourcePlace place = line_of(unit, call.address);
    for (auto scope = call.scopes.rbegin(); scope != call.scopes.rend(); ++scope) {
        if (dwarf_tag(&*scope) == DW_TAG_lexical_block)
            continue;
        place.function = function_name(*scope);
        places.push_back(std::exchange(place, place_of_inlining(unit, *scope)));
    }
    if (places.empty() && !place.file.empty())
        places.push_back(place);
    return places;
}

/// Finds the places of one object file.
class PlaceFinder {
  public:
    explicit PlaceFinder(const std::vector<std::int64_t>& return_addresses)
        : m_return_addresses(return_addresses)
    {
        for (const std::int64_t address : return_addresses) {
            if (address > 0)
                m_calls.push_back({address, address_of_call(address)});
        }
    }

    void read_dwarf(Dwarf* dwarf)
    {
        find_call_scopes(dwarf, m_return_addresses, m_steps, [&](Dwarf_Die& unit, CallScopes& scopes) {
            Call& call = *std::ranges::lower_bound(m_calls, scopes.address, {}, &Call::address);
            call.places = places_of(unit, scopes);
            if (!scopes.scopes.empty())
                call.has_full_name = is_mangled(text_of(scopes.scopes.front(), DW_AT_linkage_name));
            return !call.places.empty();
        });
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
        SourcePlaces places = {};
        bool has_full_name = false; ///< the outermost function, with its scope
        std::string symbol = {};
        GElf_Xword symbol_size = 0;
    };

    template <class Handle> void for_each_in(Dwarf_Addr begin, Dwarf_Addr end, Handle handle)
    {
        m_steps.count();
        for (auto call = std::ranges::lower_bound(m_calls, begin, {}, &Call::address);
             call != m_calls.end() && call->address < end; ++call) {
            m_steps.count();
            handle(*call);
        }
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

    const std::vector<std::int64_t>& m_return_addresses;
    std::vector<Call> m_calls; ///< ascending
    Steps m_steps;
};

} // namespace

std::map<std::int64_t, SourcePlaces> find_source_places(const UsedObject& object,
                                                        const std::vector<std::int64_t>& return_addresses)
{
    PlaceFinder finder(return_addresses);
    if (object.informed().dwarf())
        finder.read_dwarf(object.informed().dwarf());
    finder.read_symbols(object.informed().elf(), SHT_SYMTAB);
    finder.read_symbols(object.object().elf(), SHT_DYNSYM);
    return finder.take();
}

} // namespace hdtrace::merger
