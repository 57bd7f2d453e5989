#include "merger/source_types.h"

#include "merger/struct_parts.h"

#include <dwarf.h>

#include <limits>
#include <optional>

namespace hdtrace::merger {

namespace {

bool is_descriptor(Dwarf_Die& die)
{
    return has(die, DW_AT_data_location) || has(die, DW_AT_allocated) || has(die, DW_AT_associated) ||
           has(die, DW_AT_string_length);
}

/// 0 if it has none.
std::int64_t size_of(Dwarf_Die& die)
{
    const Dwarf_Word size = number_of(die, DW_AT_byte_size).value_or(0);
    constexpr auto most = static_cast<Dwarf_Word>(std::numeric_limits<std::int64_t>::max());
    return size <= most ? static_cast<std::int64_t>(size) : 0;
}

std::optional<Dwarf_Die> target_of(Dwarf_Die& die)
{
    Dwarf_Attribute memory;
    Dwarf_Attribute* const attribute = dwarf_attr_integrate(&die, DW_AT_type, &memory);
    Dwarf_Die target;
    return attribute && dwarf_formref_die(attribute, &target) ? std::optional(target) : std::nullopt;
}

/// A constant that may be negative. Compilers write those that are not in forms without a sign.
std::optional<std::int64_t> bound_of(Dwarf_Die& die, unsigned int name)
{
    Dwarf_Attribute memory;
    Dwarf_Attribute* const attribute = dwarf_attr(&die, name, &memory);
    if (!attribute)
        return std::nullopt;
    const unsigned int form = dwarf_whatform(attribute);
    if (form == DW_FORM_sdata || form == DW_FORM_implicit_const) {
        Dwarf_Sword number = 0;
        return dwarf_formsdata(attribute, &number) == 0 ? std::optional<std::int64_t>(number) : std::nullopt;
    }
    Dwarf_Word number = 0;
    if (dwarf_formudata(attribute, &number) != 0)
        return std::nullopt;
    return static_cast<std::int64_t>(number);
}

std::string_view kind_of_values(Dwarf_Word encoding)
{
    switch (encoding) {
    case DW_ATE_signed:
        return "integer";
    case DW_ATE_unsigned:
        return "unsigned integer";
    case DW_ATE_float:
        return "floating point number";
    case DW_ATE_complex_float:
        return "complex number";
    case DW_ATE_boolean:
        return "logical value";
    case DW_ATE_signed_char:
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF:
        return "character";
    default:
        return {};
    }
}

bool is_c(int language)
{
    switch (language) {
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case 0x2c: // C17; libdw does not know it yet
        return true;
    default:
        return false;
    }
}

/// Of a variable: types may be in units that have no language.
int language_of(Dwarf_Die& die)
{
    Dwarf_Die unit;
    return dwarf_diecu(&die, &unit, nullptr, nullptr) ? dwarf_srclang(&unit) : 0;
}

std::int64_t address_size_of(Dwarf_Die& die)
{
    Dwarf_Die unit;
    std::uint8_t size = 0;
    return dwarf_diecu(&die, &unit, &size, nullptr) ? size : 0;
}

bool is_other_name(Dwarf_Die& type)
{
    switch (dwarf_tag(&type)) {
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
    case DW_TAG_typedef:
        return true;
    default:
        return false;
    }
}

/// What pointers and references are to, also with other names.
std::optional<Dwarf_Die> pointed_to_by(Dwarf_Die& die)
{
    constexpr int most = 50; // longer chains lead to themselves
    std::optional<Dwarf_Die> type = die;
    for (int i = 0; i < most && type && is_other_name(*type); ++i)
        type = target_of(*type);
    const int tag = type ? dwarf_tag(&*type) : 0;
    const bool is_pointer =
        tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
    return is_pointer ? target_of(*type) : std::nullopt;
}

class TypeReader {
  public:
    TypeReader(int language, KnownStructs& structs, Steps& steps)
        : m_language(language), m_structs(structs), m_steps(steps)
    {
        constexpr std::size_t most = 10'000; // more are in no program's frames, but files may be wrong
        if (m_structs.size() > most)
            m_structs.clear();
    }

    SourceType read(Dwarf_Die& die)
    {
        const Type type = describe(die, 0);
        return {type.size, text_of(type), type.size == 0 ? Contents{} : contents_of(type)};
    }

    SourceType read_followed(Dwarf_Die& die)
    {
        SourceType result = read(die);
        auto target = pointed_to_by(die);
        Contents contents = target ? contents_of(describe(*target, 0)) : Contents{};
        if (contents.each == 0 || contents.of == "character") // C has pointers to bytes of anything so
            return result;
        result.contents = std::move(contents);
        result.is_pointer = true;
        return result;
    }

    SourceType read_address(Dwarf_Die& die, std::int64_t address_size)
    {
        const Type type = describe(die, 0);
        Contents contents = contents_of(type);
        if (contents.each == 0)
            return {};
        return {address_size, text_of(type), std::move(contents), true};
    }

  private:
    struct Type {
        std::int64_t size = 0;
        std::string name = {};       ///< of the elements
        std::string dimensions = {}; ///< as in [3][4]
        std::string_view of = {};
        std::int64_t each = 0;
        std::optional<Dwarf_Die> structure = {}; ///< which each of them is
        bool is_open = false;                    ///< the number of the elements is not known
    };

    static std::string text_of(const Type& type)
    {
        return type.name.empty() ? "" : shortened(type.name + type.dimensions);
    }

    Contents contents_of(Type type)
    {
        if (!type.of.empty() && type.each > 0)
            return {type.of, type.each, {}};
        const auto members = type.structure ? members_of(*type.structure, 0) : std::nullopt;
        std::string text = members ? members->text() : "";
        return text.empty() ? Contents{} : Contents{{}, type.each, std::move(text)};
    }

    std::optional<Members> members_of(Dwarf_Die& structure, int depth)
    {
        constexpr int most = 50; // deeper ones contain themselves
        if (depth == most)
            return std::nullopt;
        const std::pair<int, const void*> key(m_language, structure.addr);
        if (const auto known = m_structs.find(key); known != m_structs.end())
            return known->second;
        return m_structs.insert_or_assign(key, read_members(structure, depth)).first->second;
    }

    std::optional<Members> read_members(Dwarf_Die& structure, int depth)
    {
        auto parts = parts_of(structure, m_steps);
        const std::int64_t size = size_of(structure);
        Members members;
        for (std::size_t i = 0; parts && i < parts->size(); ++i) {
            StructPart& part = (*parts)[i];
            const std::int64_t next = i + 1 < parts->size() ? (*parts)[i + 1].at : size;
            if (part.at > size || next > size || !add_part(members, part, next, size, depth))
                return std::nullopt;
        }
        return parts ? std::optional(members) : std::nullopt;
    }

    /// Those of unknown size, as descriptors of Fortran, may be anything until the next one begins. Whatever
    /// is behind an array of unknown size is part of it.
    bool add_part(Members& members, StructPart& part, std::int64_t next, std::int64_t size, int depth)
    {
        Type type = part.bytes > 0 ? Type{part.bytes} : describe_target(part.die, 0);
        if (type.is_open)
            return false;
        if (type.size == 0)
            type = {next - part.at};
        if (type.size > size - part.at)
            return false;
        if (type.structure) {
            const auto nested = members_of(*type.structure, depth + 1);
            return nested && members.add(*nested, type.each, part.at, type.size / type.each);
        }
        if (!type.of.empty())
            return members.add(type.of, type.each, part.at, type.size / type.each);
        return type.size == 0 || members.add(Members::anything, type.size, part.at, 1);
    }

    Type describe(Dwarf_Die& die, int depth)
    {
        constexpr int most = 50; // longer chains lead to themselves
        m_steps.count();
        if (depth == most)
            return {};
        switch (dwarf_tag(&die)) {
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
        case DW_TAG_restrict_type:
        case DW_TAG_atomic_type:
            return describe_target(die, depth);
        case DW_TAG_typedef:
            return describe_typedef(die, depth);
        case DW_TAG_array_type:
            return describe_array(die, depth);
        case DW_TAG_pointer_type:
        case DW_TAG_reference_type:
        case DW_TAG_rvalue_reference_type:
        case DW_TAG_ptr_to_member_type:
            return describe_pointer(die, depth);
        case DW_TAG_enumeration_type:
            return describe_enumeration(die, depth);
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
            return describe_structure(die);
        case DW_TAG_union_type:
            return {size_of(die), tagged(die, "union")};
        case DW_TAG_base_type:
            return describe_base(die);
        case DW_TAG_string_type:
            return describe_string(die);
        default:
            return {size_of(die), name_of(die)};
        }
    }

    Type describe_target(Dwarf_Die& die, int depth)
    {
        auto target = target_of(die);
        return target ? describe(*target, depth + 1) : Type{};
    }

    Type describe_typedef(Dwarf_Die& die, int depth)
    {
        Type type = describe_target(die, depth);
        if (const std::string name = name_of(die); !name.empty()) {
            type.name = name;
            type.dimensions.clear();
        }
        return type;
    }

    Type describe_array(Dwarf_Die& die, int depth)
    {
        Type type = describe_target(die, depth);
        std::string dimensions;
        std::int64_t count = 1;
        bool is_plain = !is_descriptor(die) && !is_spread(die);
        Dwarf_Die child;
        for (bool has_child = dwarf_child(&die, &child) == 0; has_child;
             has_child = dwarf_siblingof(&child, &child) == 0) {
            m_steps.count();
            if (dwarf_tag(&child) != DW_TAG_subrange_type)
                is_plain = false; // what is counted by names, or has no fixed number of dimensions
            else
                add_dimension(child, count, dimensions);
            is_plain = is_plain && !is_spread(child);
        }
        type.dimensions = dimensions + type.dimensions;
        if (!is_plain)
            return {0, type.name, type.dimensions};
        type.is_open = __builtin_mul_overflow(type.size, count, &type.size) || type.size == 0;
        if (type.is_open)
            type.size = 0;
        else if (const std::int64_t size = size_of(die); size != 0 && size != type.size)
            return {size, type.name, type.dimensions}; // there are gaps
        return type;
    }

    /// With gaps between the elements.
    static bool is_spread(Dwarf_Die& die)
    {
        return has(die, DW_AT_byte_stride) || has(die, DW_AT_bit_stride);
    }

    /// Of arrays whose size is not known @p count becomes 0.
    void add_dimension(Dwarf_Die& range, std::int64_t& count, std::string& dimensions) const
    {
        constexpr std::size_t most_text = 1000;
        const std::int64_t length = is_spread(range) ? 0 : length_of(range);
        if (dimensions.size() < most_text)
            dimensions += "[" + (length > 0 ? std::to_string(length) : "") + "]";
        if (length <= 0 || __builtin_mul_overflow(count, length, &count))
            count = 0;
    }

    /// 0 or less if it has none.
    std::int64_t length_of(Dwarf_Die& range) const
    {
        if (has(range, DW_AT_count))
            return bound_of(range, DW_AT_count).value_or(0);
        const auto upper = bound_of(range, DW_AT_upper_bound), lower = lower_bound_of(range);
        std::int64_t length = 0;
        if (!upper || !lower || __builtin_sub_overflow(*upper, *lower, &length) ||
            __builtin_add_overflow(length, 1, &length))
            return 0;
        return length;
    }

    std::optional<std::int64_t> lower_bound_of(Dwarf_Die& range) const
    {
        if (has(range, DW_AT_lower_bound))
            return bound_of(range, DW_AT_lower_bound);
        Dwarf_Sword lower = 0;
        return dwarf_default_lower_bound(m_language, &lower) == 0 ? std::optional<std::int64_t>(lower)
                                                                  : std::nullopt;
    }

    Type describe_pointer(Dwarf_Die& die, int depth)
    {
        const int tag = dwarf_tag(&die);
        std::int64_t size = size_of(die);
        if (size == 0 && tag != DW_TAG_ptr_to_member_type)
            size = address_size_of(die);
        const Type target = tag == DW_TAG_ptr_to_member_type ? Type{} : describe_target(die, depth);
        if (target.name.empty() || !target.dimensions.empty())
            return {size, "pointer"};
        const char* const sign = tag == DW_TAG_pointer_type ? "*" : tag == DW_TAG_reference_type ? "&" : "&&";
        return {size, target.name + (target.name.ends_with('*') ? "" : " ") + sign};
    }

    Type describe_structure(Dwarf_Die& die) const
    {
        Type type = {size_of(die), tagged(die, "struct")};
        if (type.size > 0) { // its members are known, too
            type.structure = die;
            type.each = type.size;
        }
        return type;
    }

    /// Compilers of C choose signed or unsigned integers for it. Bytes are enumerations of characters in C++.
    Type describe_enumeration(Dwarf_Die& die, int depth)
    {
        const Type target = describe_target(die, depth);
        const bool is_integer = target.of.empty() || target.of.ends_with("integer");
        const std::int64_t size = size_of(die);
        return {size, tagged(die, "enum"), {}, is_integer ? "enumeration" : target.of, size};
    }

    static Type describe_base(Dwarf_Die& die)
    {
        const std::int64_t size = size_of(die);
        return {size, name_of(die), {}, kind_of_values(number_of(die, DW_AT_encoding).value_or(0)), size};
    }

    /// Of Fortran, without a name; those of characters of several bytes are arrays.
    static Type describe_string(Dwarf_Die& die)
    {
        const std::int64_t size = is_descriptor(die) ? 0 : size_of(die);
        if (size == 0)
            return {0, "character"};
        return {size, "character(len=" + std::to_string(size) + ")", {}, "character", 1};
    }

    static std::string name_of(Dwarf_Die& die)
    {
        Dwarf_Attribute memory;
        Dwarf_Attribute* const attribute = dwarf_attr_integrate(&die, DW_AT_name, &memory);
        const char* const name = attribute ? dwarf_formstring(attribute) : nullptr;
        return name ? shortened(name) : "";
    }

    /// C calls them with their kind.
    std::string tagged(Dwarf_Die& die, const char* kind) const
    {
        const std::string name = name_of(die);
        return name.empty() || !is_c(m_language) ? name : std::string(kind) + " " + name;
    }

    int m_language;
    KnownStructs& m_structs;
    Steps& m_steps;
};

} // namespace

SourceType SourceTypes::type_of(Dwarf_Die& die)
{
    auto type = target_of(die);
    return type ? TypeReader(language_of(die), m_structs, m_steps).read(*type) : SourceType{};
}

SourceType SourceTypes::followed_type_of(Dwarf_Die& die)
{
    auto type = target_of(die);
    return type ? TypeReader(language_of(die), m_structs, m_steps).read_followed(*type) : SourceType{};
}

SourceType SourceTypes::type_of_address(Dwarf_Die& die)
{
    auto type = target_of(die);
    if (!type)
        return {};
    return TypeReader(language_of(die), m_structs, m_steps).read_address(*type, address_size_of(die));
}

} // namespace hdtrace::merger
