#include "hdtrace/checking/type_signature.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "hdtrace/format/blocks.h"
#include "hdtrace/matching/saturated.h"

namespace hdtrace {
namespace {

constexpr std::size_t most_runs = 4096; // of one datatype
constexpr int most_nesting = 1000;
constexpr std::string_view packed = "packed data";

struct Family {
    std::string_view name; ///< as people write it; with a size behind it if `has_size`
    bool has_size;
    std::array<std::string_view, 14> prefixes; ///< of the names of the types, without MPI_
};

/// The first family with a prefix of the name holds.
constexpr Family families[] = {
    {"unsigned integer", true, {"UNSIGNED", "UINT"}},
    {"byte", false, {"BYTE"}},
    {packed, false, {"PACKED"}},
    {"character", true, {"CHAR", "WCHAR"}},
    {"logical value", true, {"LOGICAL", "C_BOOL", "CXX_BOOL"}},
    {"complex number",
     true,
     {"C_FLOAT_COMPLEX", "C_DOUBLE_COMPLEX", "C_LONG_DOUBLE_COMPLEX", "C_COMPLEX", "CXX_", "COMPLEX",
      "DOUBLE_COMPLEX"}},
    {"floating point number", true, {"FLOAT", "DOUBLE", "LONG_DOUBLE", "REAL"}},
    {"integer", true, {"INT", "SHORT", "LONG", "SIGNED_CHAR", "AINT", "OFFSET", "COUNT"}},
};

/// Pairs that MPI_MINLOC and MPI_MAXLOC take: a value, and an index of the same or of type int.
constexpr std::pair<std::string_view, std::string_view> pairs[] = {
    {"FLOAT_INT", "floating point number"},
    {"DOUBLE_INT", "floating point number"},
    {"LONG_INT", "integer"},
    {"SHORT_INT", "integer"},
    {"LONG_DOUBLE_INT", "floating point number"}};

constexpr std::pair<std::string_view, std::string_view> twins[] = {
    {"2INT", "integer"}, {"2REAL", "floating point number"}, {"2DOUBLE_PRECISION", "floating point number"}};

TypeSignature predefined(std::string_view name, std::int64_t size)
{
    if (name.starts_with("MPI_"))
        name.remove_prefix(4);
    if (name == "LB" || name == "UB" || size <= 0)
        return {};
    const auto pair = std::ranges::find(pairs, name, &std::pair<std::string_view, std::string_view>::first);
    if (pair != std::end(pairs))
        return {{sized(pair->second, size - 4), 1, size - 4}, {sized("integer", 4), 1, 4}};
    for (const auto& [prefix, family] : twins)
        if (name.starts_with(prefix))
            return {{sized(family, size / 2), 2, size / 2}};
    for (const Family& family : families)
        for (const std::string_view prefix : family.prefixes)
            if (!prefix.empty() && name.starts_with(prefix))
                return {{family.has_size ? sized(family.name, size) : std::string(family.name), 1, size}};
    return {{std::string(name), 1, size}};
}

/// @p count times @p part behind what is there; false if that is too much.
bool append(TypeSignature& signature, const TypeSignature& part, std::int64_t count)
{
    if (count <= 0 || part.empty())
        return true;
    if (part.size() == 1) {
        const std::int64_t values = saturated_product(part[0].count, count);
        if (!signature.empty() && signature.back().type == part[0].type)
            signature.back().count = saturated_sum(signature.back().count, values);
        else
            signature.push_back({part[0].type, values, part[0].size});
        return signature.size() <= most_runs;
    }
    if (count > static_cast<std::int64_t>(most_runs / part.size()))
        return false;
    for (; count > 0; --count)
        for (const BasicTypes& run : part)
            if (!append(signature, {run}, 1))
                return false;
    return true;
}

std::optional<std::int64_t> elements_of_blocks(const Datatype& datatype)
{
    std::int64_t all = 0;
    const bool is_read = for_each_blocks(datatype, [&](const Blocks& blocks) {
        all = saturated_sum(all, saturated_product(blocks.count, std::max<std::int64_t>(0, blocks.length)));
        return true;
    });
    return is_read ? std::optional(all) : std::nullopt;
}

/// How many elements of its old type a type has; nothing if that is not known.
std::optional<std::int64_t> copies_of(const Datatype& datatype)
{
    const std::string_view combiner = datatype.combiner;
    const AttributeList& type = datatype.attributes;
    const std::int64_t count = type.integer("count").value_or(0);
    if (combiner == "DUP" || combiner == "RESIZED")
        return 1;
    if (combiner == "CONTIGUOUS")
        return count;
    if (combiner == "VECTOR" || combiner.starts_with("HVECTOR"))
        return saturated_product(count, type.integer("blocklength").value_or(0));
    if (is_indexed(datatype))
        return elements_of_blocks(datatype);
    if (combiner != "SUBARRAY")
        return std::nullopt;
    std::int64_t cells = 1;
    for (const Element& row : datatype.rows)
        cells = saturated_product(cells, row.integer("subsize").value_or(0));
    return cells;
}

/// Walks over the basic types of elements.
class Cursor {
  public:
    explicit Cursor(const TypedData& data) : m_runs(*data.signature), m_elements(data.count)
    {
        // Equal elements of one basic type are one run.
        if (m_runs.size() == 1) {
            m_left = saturated_product(m_runs[0].count, std::max<std::int64_t>(0, m_elements));
            m_elements = 1;
        } else if (!m_runs.empty()) {
            m_left = m_runs[0].count;
        }
        m_is_over = m_runs.empty() || m_elements <= 0 || m_left == 0;
    }

    bool is_over() const { return m_is_over; }
    const std::string& type() const { return m_runs[m_run].type; }
    std::int64_t left() const { return m_left; }

    void skip(std::int64_t count)
    {
        m_left -= count;
        if (m_left > 0)
            return;
        if (++m_run == m_runs.size()) {
            m_run = 0;
            m_is_over = --m_elements <= 0;
        }
        m_left = m_runs[m_run].count;
    }

  private:
    const TypeSignature& m_runs;
    std::int64_t m_elements;
    std::size_t m_run = 0;
    std::int64_t m_left = 0;
    bool m_is_over = false;
};

} // namespace

std::string sized(std::string_view family, std::int64_t size)
{
    return std::string(family) + " of " + std::to_string(size) + (size == 1 ? " byte" : " bytes");
}

const TypeSignature* TypeSignatures::find(std::int64_t rank, std::int64_t tid)
{
    const Datatype* datatype = m_objects.datatype(rank, tid);
    if (datatype == nullptr || m_depth == most_nesting)
        return nullptr;
    auto known = m_signatures.find(datatype);
    if (known == m_signatures.end()) {
        ++m_depth;
        std::optional<TypeSignature> made = make(rank, *datatype);
        --m_depth;
        known = m_signatures.emplace(datatype, std::move(made)).first;
    }
    return known->second ? &*known->second : nullptr;
}

std::optional<TypeSignature> TypeSignatures::make(std::int64_t rank, const Datatype& datatype)
{
    const AttributeList& type = datatype.attributes;
    const auto name = type.value("name");
    if (datatype.combiner == "NAMED")
        return name ? std::optional(predefined(*name, type.integer("size").value_or(0))) : std::nullopt;
    TypeSignature signature;
    if (datatype.combiner.starts_with("STRUCT")) {
        for (const Element& row : datatype.rows) {
            const TypeSignature* member = find(rank, row.integer("id").value_or(-1));
            if (!member || !append(signature, *member, row.integer("blocklen").value_or(0)))
                return std::nullopt;
        }
        return signature;
    }
    const std::optional<std::int64_t> count = copies_of(datatype);
    const TypeSignature* old = find(rank, type.integer("oldType").value_or(-1));
    if (!count || !old || !append(signature, *old, *count))
        return std::nullopt;
    return signature;
}

TypedData TypeSignatures::data(std::int64_t rank, const Element& element, const AttributeName& count,
                               const AttributeName& tid)
{
    const auto id = element.integer(tid);
    return {element.integer(count).value_or(-1), id ? find(rank, *id) : nullptr};
}

std::optional<TypeDifference> difference(const TypedData& first, const TypedData& second)
{
    if (!first.signature || !second.signature || first.count < 0 || second.count < 0)
        return std::nullopt;
    Cursor a(first);
    Cursor b(second);
    for (std::size_t steps = 0; steps < 16 * most_runs && !a.is_over() && !b.is_over(); ++steps) {
        if (a.type() == packed || b.type() == packed)
            return std::nullopt;
        if (a.type() != b.type())
            return TypeDifference{a.type(), b.type()};
        const std::int64_t both = std::min(a.left(), b.left());
        a.skip(both);
        b.skip(both);
    }
    return std::nullopt;
}

} // namespace hdtrace
