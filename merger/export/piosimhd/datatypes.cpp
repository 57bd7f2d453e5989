#include "merger/export/piosimhd/datatypes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "hdtrace/format/blocks.h"

namespace hdtrace::exporter::piosimhd {

namespace {

using Part = LoadableType::Part;
using Form = LoadableType::Form;

/// More parts are not written: a subarray of a large matrix has one for each of its rows.
constexpr std::size_t most_parts = 4096;
constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max(); // they have int

/// What both readers know, and how large it is for them.
const std::map<std::string_view, std::int64_t> known_names = {
    {"MPI_BYTE", 1},      {"MPI_CHAR", 1},  {"MPI_INT", 4},    {"MPI_INTEGER", 4}, {"MPI_LONG", 4},
    {"MPI_LONG_LONG", 8}, {"MPI_FLOAT", 4}, {"MPI_DOUBLE", 8}, {"MPI_LB", 0},      {"MPI_UB", 0}};

std::optional<std::int64_t> measure(const AttributeList& attributes, std::string_view name)
{
    const auto found = attributes.find_exactly(name);
    return found ? attributes.number(*found) : std::nullopt;
}

std::optional<std::int64_t> measure(const Datatype& type, std::string_view name)
{
    return measure(type.attributes, name);
}

bool fits(std::int64_t number)
{
    return number >= -most && number <= most;
}

std::int64_t product(std::int64_t a, std::int64_t b)
{
    std::int64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() : result;
}

class Loadable {
  public:
    Loadable(const RankDatatypes& types, TypeMaps& maps, TypeLosses& losses)
        : m_types(types), m_maps(maps), m_losses(losses)
    {
    }

    std::vector<LoadableType> all()
    {
        add_byte();
        for (const Datatype& type : m_types.types) {
            if (!m_measures.contains(type.id))
                add(type);
        }
        return std::move(m_result);
    }

  private:
    /// What the newer reader thinks of a type.
    struct Measures {
        std::int64_t size = 0;
        std::int64_t extent = 0;
    };

    /// Others are made of it, so it is the first one.
    void add_byte()
    {
        const auto is_byte = [](const Datatype& type) {
            return type.combiner == "NAMED" && type.attributes.value("name") == "MPI_BYTE";
        };
        const auto known = std::ranges::find_if(m_types.types, is_byte);
        if (known != m_types.types.end()) {
            m_byte = known->id;
        } else {
            for (const Datatype& type : m_types.types)
                m_byte =
                    std::max(m_byte, type.id < std::numeric_limits<std::int64_t>::max() ? type.id + 1 : 0);
        }
        LoadableType byte;
        byte.id = m_byte;
        byte.name = "MPI_BYTE";
        keep(std::move(byte), {1, 1});
    }

    void add(const Datatype& type)
    {
        LoadableType result;
        result.id = type.id;
        if (const auto name = type.attributes.value("name"))
            result.name = *name;
        const auto size = size_of(type);
        if (type.combiner == "NAMED") {
            const auto known = known_names.find(result.name);
            if (known != known_names.end() && size.value_or(known->second) == known->second)
                return keep(std::move(result), {known->second, known->second});
        }
        if (type.combiner == "VECTOR" && make_vector(type, result)) {
            const Measures old = m_measures.at(result.old_type);
            const std::int64_t blocks = product(result.count - 1, result.stride) + result.block_length;
            const Measures all = {product(product(result.count, result.block_length), old.size),
                                  product(blocks, old.extent)};
            return keep(std::move(result), all);
        }
        make_structure(type, size, result);
    }

    void keep(LoadableType type, Measures measures)
    {
        m_measures[type.id] = measures;
        m_result.push_back(std::move(type));
    }

    /// Nothing if the project does not tell.
    std::optional<std::int64_t> size_of(const Datatype& type)
    {
        if (type.combiner != "DARRAY") { // whose attribute is how many processes have a part of it
            if (const auto size = measure(type, "size"))
                return size;
            if (type.combiner == "NAMED" || type.combiner.starts_with("F90_"))
                return {};
        }
        const MappedType* const mapped = map_of(type);
        return mapped != nullptr ? std::optional(mapped->map->size()) : std::nullopt;
    }

    const MappedType* map_of(const Datatype& type)
    {
        return m_maps.find_possible(m_types.rank, type.id); // older traces do not tell extents
    }

    bool make_vector(const Datatype& type, LoadableType& result)
    {
        const auto count = measure(type, "count"), length = measure(type, "blocklength"),
                   stride = measure(type, "stride"), old_type = measure(type, "oldType");
        if (!count || !length || !stride || !old_type || !has_data(*old_type) || *count <= 0 ||
            *length <= 0 || !fits(*count) || !fits(*length) || !fits(*stride))
            return false;
        const auto end = product(product(*count, *stride) + *length, m_measures.at(*old_type).extent);
        if (*stride <= 0 || !fits(end))
            return false;
        result.form = Form::vector;
        result.count = *count;
        result.block_length = *length;
        result.stride = *stride;
        result.old_type = *old_type;
        return true;
    }

    bool has_data(std::int64_t id) const
    {
        const auto known = m_measures.find(id);
        return known != m_measures.end() && known->second.size > 0;
    }

    void make_structure(const Datatype& type, std::optional<std::int64_t> size, LoadableType& result)
    {
        result.form = Form::structure;
        result.parts = parts_of(type);
        std::erase_if(result.parts, [&](const Part& part) { return part.length <= 0 || !has_data(part.id); });
        Measures measures = measures_of(result.parts);
        const bool fits_in = !result.parts.empty() && result.parts.size() <= most_parts &&
                             fits(measures.size) && fits(measures.extent) && measures.extent > 0 &&
                             std::ranges::all_of(result.parts, [](const Part& part) {
                                 return fits(part.displacement) && fits(part.length);
                             });
        if (!fits_in || (size && measures.size != *size)) {
            if (!size)
                ++m_losses.unknown_sizes;
            else if (*size <= 0)
                ++m_losses.without_data;
            else if (type.combiner != "NAMED" && !type.combiner.starts_with("F90_"))
                ++m_losses.as_bytes;
            result.parts = {{m_byte, 0, std::clamp<std::int64_t>(size.value_or(1), 1, most)}};
            measures = measures_of(result.parts);
        }
        if (const auto end = end_of(type); end && *end != measures.extent && size.value_or(0) > 0)
            ++m_losses.extents;
        keep(std::move(result), measures);
    }

    static std::optional<std::int64_t> end_of(const Datatype& type)
    {
        const auto extent = measure(type, "extent");
        std::int64_t end = 0;
        if (!extent || __builtin_add_overflow(*extent, measure(type, "lb").value_or(0), &end))
            return {};
        return end;
    }

    /// The size is that of all; the newer reader takes the end of the last one for the extent.
    Measures measures_of(const std::vector<Part>& parts) const
    {
        Measures measures;
        for (const Part& part : parts) {
            const Measures& of_part = m_measures.at(part.id);
            std::int64_t size = product(part.length, of_part.size);
            if (__builtin_add_overflow(measures.size, size, &measures.size) ||
                __builtin_add_overflow(part.displacement, product(part.length, of_part.extent),
                                       &measures.extent))
                return {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()};
        }
        return measures;
    }

    std::vector<Part> parts_of(const Datatype& type)
    {
        const std::string_view combiner = type.combiner;
        if (combiner == "STRUCT" || combiner == "STRUCT_INTEGER")
            return members_of(type);
        const auto old_type = measure(type, "oldType");
        if (!old_type || !m_measures.contains(*old_type))
            return {};
        const std::int64_t unit = combiner.starts_with("H") ? 1 : m_measures.at(*old_type).extent;
        if (combiner == "DUP" || combiner == "RESIZED")
            return {{*old_type, 0, 1}};
        if (combiner == "CONTIGUOUS")
            return {{*old_type, 0, measure(type, "count").value_or(0)}};
        if (is_indexed(type))
            return blocks_of(type, *old_type, unit);
        if (combiner.starts_with("HVECTOR"))
            return vector_parts(type, *old_type);
        return pieces_of(type);
    }

    static std::vector<Part> members_of(const Datatype& type)
    {
        std::vector<Part> parts;
        for (const Element& row : type.rows) {
            const auto id = measure(row.attributes, "id"),
                       displacement = measure(row.attributes, "displacement"),
                       length = measure(row.attributes, "blocklen");
            if (!id || !displacement || !length)
                return {};
            parts.push_back({*id, *displacement, *length});
        }
        return parts;
    }

    /// Empty if there are too many.
    static std::vector<Part> blocks_of(const Datatype& type, std::int64_t old_type, std::int64_t unit)
    {
        std::vector<Part> parts;
        const bool is_all = for_each_blocks(type, [&](const Blocks& blocks) {
            if (blocks.count > static_cast<std::int64_t>(most_parts))
                return false;
            for (std::int64_t i = 0; i < blocks.count; ++i)
                parts.push_back(
                    {old_type, product(blocks.displacement + i * blocks.step, unit), blocks.length});
            return parts.size() <= most_parts;
        });
        return is_all ? parts : std::vector<Part>();
    }

    static std::vector<Part> vector_parts(const Datatype& type, std::int64_t old_type)
    {
        const auto count = measure(type, "count"), stride = measure(type, "stride"),
                   length = measure(type, "blocklength");
        std::vector<Part> parts;
        if (!count || !stride || !length || *count > static_cast<std::int64_t>(most_parts))
            return {};
        for (std::int64_t i = 0; i < *count; ++i)
            parts.push_back({old_type, product(i, *stride), *length});
        return parts;
    }

    /// Its bytes, wherever they are; empty if there are too many parts.
    std::vector<Part> pieces_of(const Datatype& type)
    {
        std::vector<Part> parts;
        const MappedType* const mapped = map_of(type);
        if (mapped == nullptr)
            return {};
        const bool is_all = mapped->map->visit_pieces(0, 0, [&](std::int64_t begin, std::int64_t end) {
            if (!parts.empty() && parts.back().displacement + parts.back().length == begin)
                parts.back().length += end - begin;
            else
                parts.push_back({m_byte, begin, end - begin});
            return parts.size() <= most_parts;
        });
        return is_all ? parts : std::vector<Part>();
    }

    const RankDatatypes& m_types;
    TypeMaps& m_maps;
    TypeLosses& m_losses;
    std::int64_t m_byte = 0;
    std::map<std::int64_t, Measures> m_measures;
    std::vector<LoadableType> m_result;
};

} // namespace

std::vector<LoadableType> loadable_types(const RankDatatypes& types, TypeMaps& maps, TypeLosses& losses)
{
    return Loadable(types, maps, losses).all();
}

} // namespace hdtrace::exporter::piosimhd
