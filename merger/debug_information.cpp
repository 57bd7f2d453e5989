#include "merger/debug_information.h"

#include <cstring>
#include <stdexcept>

namespace hdtrace::merger {

namespace {

/// Throws std::runtime_error.
void check_identity(const ElfFile& object, const WantedObject& wanted)
{
    // Programs may be started in the second in which they are linked, and starts have only whole seconds.
    constexpr std::int64_t second = 1'000'000'000;
    const bool is_same = object.build_id() == wanted.build_id;
    const bool is_old = wanted.used_from > 0 && object.changed() < wanted.used_from + second;
    if (!is_same || (wanted.build_id.empty() && !is_old))
        throw std::runtime_error("it has changed since");
}

} // namespace

void Steps::count()
{
    constexpr std::int64_t most = 100'000'000;
    if (++m_count > most)
        throw std::runtime_error("its debug information is too large, or wrong");
}

UsedObject::UsedObject(const WantedObject& wanted, const std::string& debug_directory) : m_object(wanted.path)
{
    check_identity(m_object, wanted);
    if (!m_object.dwarf())
        m_debug_file = find_debug_file(m_object, wanted.path, debug_directory);
}

Dwarf_Addr address_of_call(std::int64_t return_address)
{
    return static_cast<Dwarf_Addr>(return_address) - 1;
}

std::string shortened(const char* text)
{
    constexpr std::size_t most = 1000;
    const std::size_t length = strnlen(text, most + 1); // files may hold very long ones, used again and again
    return length > most ? std::string(text, most) + "..." : std::string(text, length);
}

std::string shortened(const std::string& text)
{
    return shortened(text.c_str());
}

std::string text_of(Dwarf_Die& die, unsigned int name)
{
    Dwarf_Attribute memory;
    Dwarf_Attribute* const attribute = dwarf_attr_integrate(&die, name, &memory);
    const char* const text = attribute ? dwarf_formstring(attribute) : nullptr;
    return text ? text : "";
}

bool has(Dwarf_Die& die, unsigned int name)
{
    return dwarf_hasattr(&die, name) != 0;
}

std::optional<Dwarf_Word> number_of(Dwarf_Die& die, unsigned int name)
{
    Dwarf_Attribute memory;
    Dwarf_Attribute* const attribute = dwarf_attr(&die, name, &memory);
    Dwarf_Word number = 0;
    return attribute && dwarf_formudata(attribute, &number) == 0 ? std::optional(number) : std::nullopt;
}

} // namespace hdtrace::merger
