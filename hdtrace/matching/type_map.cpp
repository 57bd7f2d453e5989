#include "hdtrace/matching/type_map.h"

#include <functional>
#include <optional>
#include <string_view>

#include "hdtrace/format/blocks.h"

namespace hdtrace {

namespace {

constexpr int most_nesting = 1000;
constexpr std::int64_t bytes_of_int = 4;

// Files may say anything.
__extension__ using Wide = __int128;

std::int64_t checked(Wide value)
{
    if (value > TypeMap::most_bytes || value < -TypeMap::most_bytes)
        throw DatatypeError("a datatype is larger than 2^60 bytes");
    return static_cast<std::int64_t>(value);
}

std::int64_t product(std::int64_t a, std::int64_t b)
{
    return checked(Wide{a} * b);
}

std::int64_t integer(const Element& element, const AttributeName& name)
{
    const std::optional<std::int64_t> value = element.integer(name);
    if (!value)
        throw DatatypeError("a datatype lacks " + std::string(name.text()));
    return *value;
}

Element without_rows(const Datatype& datatype)
{
    return {datatype.combiner, datatype.attributes};
}

std::string_view text(const Element& element, const AttributeName& name)
{
    const auto value = element.find(name);
    return value.value_or("");
}

/// Pairs of a number and an int are laid out like a struct of C; all other predefined types are one piece.
bool is_pair_with_int(std::string_view name)
{
    constexpr std::string_view pairs[] = {"MPI_SHORT_INT", "MPI_LONG_INT", "MPI_FLOAT_INT", "MPI_DOUBLE_INT",
                                          "MPI_LONG_DOUBLE_INT"};
    return std::ranges::find(pairs, name) != std::end(pairs);
}

TypeMapPointer predefined(const Element& type)
{
    const std::int64_t size = checked(integer(type, "size"));
    const std::int64_t number = size - bytes_of_int;
    if (!is_pair_with_int(text(type, "name")) || number <= 0)
        return TypeMap::piece(size);
    const std::int64_t aligned = (number + bytes_of_int - 1) / bytes_of_int * bytes_of_int;
    return TypeMap::join({{0, 1, 0, TypeMap::piece(number)}, {aligned, 1, 0, TypeMap::piece(bytes_of_int)}});
}

/// Which indices of one dimension of an array belong to the type: blocks at equal distances, then a shorter
/// one.
struct Indices {
    std::int64_t first = 0;
    std::int64_t blocks = 0;
    std::int64_t length = 1; ///< of a block
    std::int64_t step = 1;   ///< from one block to the next
    std::int64_t rest = 0;   ///< length of the shorter one
};

struct Dimension {
    std::int64_t size = 0;
    Indices indices;
};

Dimension dimension_of_subarray(const Element& row)
{
    return {checked(integer(row, "size")), {integer(row, "start"), 1, integer(row, "subsize"), 1, 0}};
}

/// What the process with this coordinate gets.
Dimension dimension_of_darray(const Element& row, std::int64_t coordinate)
{
    const std::int64_t size = checked(integer(row, "gsize"));
    const std::int64_t processes = checked(integer(row, "psize"));
    if (processes <= 0)
        throw DatatypeError("an array is distributed to " + std::to_string(processes) + " processes");
    if (text(row, "distrib") == "MPI_DISTRIBUTE_NONE")
        return {size, {0, 1, size, 1, 0}};
    const std::int64_t smallest =
        text(row, "distrib") == "MPI_DISTRIBUTE_BLOCK" ? (size + processes - 1) / processes : 1;
    const std::int64_t length = row.integer("darg").value_or(smallest);
    if (length <= 0)
        throw DatatypeError("a distributed array has blocks of " + std::to_string(length));
    const std::int64_t step = product(length, processes);
    const std::int64_t first = product(coordinate, length);
    const std::int64_t left = std::max<std::int64_t>(0, size - first); // behind the first one
    return {size,
            {first, left / step + (left % step >= length ? 1 : 0), length, step,
             left % step < length ? left % step : 0}};
}

/// The grid of processes is in C's order, also for arrays in Fortran's order.
std::vector<Dimension> dimensions_of(const Datatype& datatype, std::int64_t rank)
{
    std::vector<Dimension> dimensions;
    for (auto row = datatype.rows.rbegin(); row != datatype.rows.rend(); ++row) {
        if (datatype.combiner == "SUBARRAY") {
            dimensions.push_back(dimension_of_subarray(*row));
            continue;
        }
        const std::int64_t processes = std::max<std::int64_t>(1, integer(*row, "psize"));
        dimensions.push_back(dimension_of_darray(*row, rank % processes));
        rank /= processes;
    }
    return dimensions;
}

/// @p unit: bytes that displacements count in.
void add_blocks(const Datatype& datatype, std::int64_t unit, const MappedType& old,
                std::vector<Copies>& parts)
{
    const bool is_read = for_each_blocks(datatype, [&](const Blocks& blocks) {
        const std::int64_t place = product(blocks.displacement, unit);
        if (blocks.count == 1)
            parts.push_back({place, blocks.length, old.extent, old.map});
        else
            parts.push_back({place, blocks.count, product(blocks.step, unit),
                             TypeMap::join({{0, blocks.length, old.extent, old.map}})});
        return true;
    });
    if (!is_read)
        throw DatatypeError("the project does not tell where the blocks of a datatype are");
}

/// The last dimension of C's order is the first of Fortran's.
TypeMapPointer array_map(const Datatype& datatype, const MappedType& old)
{
    const Element type = without_rows(datatype);
    std::vector<Dimension> dimensions = dimensions_of(datatype, type.integer("rank").value_or(0));
    if (text(type, "order") == "MPI_ORDER_FORTRAN")
        std::ranges::reverse(dimensions);
    TypeMapPointer map = old.map;
    std::int64_t stride = old.extent;
    for (const auto& [size, indices] : dimensions) {
        const auto& [first, blocks, length, step, rest] = indices;
        const TypeMapPointer block = TypeMap::join({{0, length, stride, map}});
        const std::int64_t behind_blocks = checked(first + Wide{blocks} * step);
        map = TypeMap::join({{product(first, stride), blocks, product(step, stride), block},
                             {product(behind_blocks, stride), rest, stride, map}});
        stride = product(stride, size);
    }
    return map;
}

} // namespace

TypeMapPointer TypeMap::piece(std::int64_t size)
{
    auto map = std::make_shared<TypeMap>();
    map->m_size = map->m_end = std::max<std::int64_t>(0, size);
    return map;
}

TypeMapPointer TypeMap::join(const std::vector<Copies>& parts)
{
    auto map = std::make_shared<TypeMap>();
    for (const Copies& copies : parts)
        map->add(copies);
    const bool is_one = map->m_rows.size() == 1 && map->m_rows[0].count == 1 && map->m_rows[0].place == 0;
    return is_one ? map->m_rows[0].part : map;
}

void TypeMap::add(const Copies& copies)
{
    if (copies.count <= 0 || copies.part->size() == 0)
        return;
    const Wide span = Wide{copies.count - 1} * copies.stride;
    checked(copies.place + std::min<Wide>(0, span) + copies.part->begin());
    checked(copies.place + std::max<Wide>(0, span) + copies.part->end());
    const std::int64_t size = checked(m_size + Wide{copies.count} * copies.part->size());
    m_depth = std::max(m_depth, copies.part->m_depth + 1);
    if (m_depth > most_nesting)
        throw DatatypeError("datatypes are nested more than " + std::to_string(most_nesting) + " times");
    Row row{copies, m_size};
    if (row.count > 1 && row.part->m_rows.empty() && row.stride == row.part->m_size) {
        row.part = piece(row.count * row.part->m_size);
        row.count = 1;
    }
    m_is_ascending = m_is_ascending && row.is_ascending() && (m_rows.empty() || m_end <= row.begin());
    m_begin = m_rows.empty() ? row.begin() : std::min(m_begin, row.begin());
    m_end = m_rows.empty() ? row.end() : std::max(m_end, row.end());
    m_size = size;
    m_rows.push_back(std::move(row));
}

bool TypeMap::Row::is_ascending() const
{
    return part->is_ascending() && (count == 1 || stride >= part->end() - part->begin());
}

std::int64_t TypeMap::data_before(std::int64_t place) const
{
    if (m_rows.empty())
        return std::clamp<std::int64_t>(place, 0, m_size);
    const auto behind =
        std::ranges::partition_point(m_rows, [&](const Row& row) { return row.begin() < place; });
    if (behind == m_rows.begin())
        return 0;
    const Row& row = *(behind - 1);
    const std::int64_t i = row.count == 1 ? 0 : std::min(row.count - 1, (place - row.begin()) / row.stride);
    return row.data_before + i * row.part->size() + row.part->data_before(place - row.place - i * row.stride);
}

namespace {

class OneDeeper {
  public:
    explicit OneDeeper(int& depth) : m_depth(depth) { ++m_depth; }
    ~OneDeeper() { --m_depth; }
    OneDeeper(const OneDeeper&) = delete;
    OneDeeper& operator=(const OneDeeper&) = delete;

  private:
    int& m_depth;
};

} // namespace

const MappedType* TypeMaps::find(std::int64_t rank, std::int64_t tid)
{
    const Datatype* datatype = m_objects.datatype(rank, tid);
    if (datatype == nullptr)
        return nullptr;
    if (const auto known = m_types.find(datatype); known != m_types.end())
        return known->second.map ? &known->second : nullptr;
    if (m_depth == most_nesting)
        throw DatatypeError("datatypes are nested more than " + std::to_string(most_nesting) + " times");
    const OneDeeper one_deeper(m_depth);
    MappedType type = make(rank, *datatype);
    const MappedType& kept = m_types[datatype] = std::move(type);
    return kept.map ? &kept : nullptr;
}

const MappedType* TypeMaps::find_possible(std::int64_t rank, std::int64_t tid)
{
    try {
        return find(rank, tid);
    } catch (const DatatypeError&) {
        return nullptr;
    }
}

MappedType TypeMaps::make(std::int64_t rank, const Datatype& datatype)
{
    const Element type = without_rows(datatype);
    const std::int64_t extent = checked(integer(type, "extent"));
    if (datatype.combiner == "NAMED" || datatype.combiner.starts_with("F90_"))
        return {predefined(type), extent};
    std::vector<Copies> all = parts(rank, datatype);
    const bool is_known =
        !all.empty() && std::ranges::all_of(all, [](const Copies& part) { return part.part != nullptr; });
    return {is_known ? TypeMap::join(all) : nullptr, extent};
}

/// Empty if the contents are not known; a part without a map if that of a component is not.
std::vector<Copies> TypeMaps::parts(std::int64_t rank, const Datatype& datatype)
{
    const Element type = without_rows(datatype);
    const std::string_view combiner = datatype.combiner;
    const TypeMapPointer nothing = TypeMap::piece(0);
    std::vector<Copies> parts = {{0, 1, 0, nothing}};
    if (combiner == "STRUCT" || combiner == "STRUCT_INTEGER") {
        for (const Element& row : datatype.rows) {
            const MappedType* member = find(rank, integer(row, "id"));
            parts.push_back({integer(row, "displacement"), integer(row, "blocklen"),
                             member ? member->extent : 0, member ? member->map : nullptr});
        }
        return type.integer("count") ? parts : std::vector<Copies>();
    }
    const std::optional<std::int64_t> old_type = type.integer("oldType");
    const MappedType* old = old_type ? find(rank, *old_type) : nullptr;
    if (old == nullptr)
        return {};
    const std::int64_t extent = old->extent;
    const auto block = [&](std::int64_t place, std::int64_t length) {
        parts.push_back({place, length, extent, old->map});
    };
    const auto vector = [&](std::int64_t stride) {
        const TypeMapPointer one = TypeMap::join({{0, integer(type, "blocklength"), extent, old->map}});
        parts.push_back({0, integer(type, "count"), stride, one});
    };
    const bool in_bytes = combiner.starts_with("H");
    const std::int64_t unit = in_bytes ? 1 : extent;
    if (combiner == "DUP" || combiner == "RESIZED")
        block(0, 1);
    else if (combiner == "CONTIGUOUS")
        block(0, integer(type, "count"));
    else if (combiner == "VECTOR" || combiner.starts_with("HVECTOR"))
        vector(product(integer(type, "stride"), unit));
    else if (is_indexed(datatype))
        add_blocks(datatype, unit, *old, parts);
    else if (combiner == "SUBARRAY" || combiner == "DARRAY")
        parts.push_back({0, 1, 0, array_map(datatype, *old)});
    else
        return {};
    return parts;
}

} // namespace hdtrace
