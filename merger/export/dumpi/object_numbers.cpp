#include "merger/export/dumpi/object_numbers.h"

#include <limits>
#include <utility>

namespace hdtrace::exporter::dumpi {

using namespace hdtrace::dumpi;

Number NamelessNumbers::make()
{
    m_alive.push_back(m_next <= m_last ? m_next++ : 0);
    return m_alive.back();
}

Number NamelessNumbers::last(bool frees)
{
    if (m_alive.empty())
        return m_null;
    const Number number = m_alive.back();
    if (frees)
        m_alive.pop_back();
    return number;
}

ObjectNumbers::ObjectNumbers(const ObjectTable& objects, std::int64_t rank, std::string world_group)
    : m_objects(objects), m_rank(rank), m_world_group(std::move(world_group)), m_maps(objects),
      m_sizes(first_datatype, 0)
{
    for (const Predefined& predefined : predefined_datatypes())
        m_sizes[predefined.number] = predefined.size;
}

Number ObjectNumbers::datatype(std::int64_t tid)
{
    if (tid < 0)
        return null_datatype;
    if (const auto known = m_known_datatypes.find(tid); known != m_known_datatypes.end())
        return known->second;
    const Datatype* datatype = m_objects.datatype(m_rank, tid);
    std::optional<std::uint8_t> predefined;
    if (datatype != nullptr && datatype->combiner == "NAMED")
        predefined = number_of(Code::datatype, datatype->attributes.value("name").value_or(""));
    const Number number = predefined ? *predefined : m_datatypes.of(tid);
    m_known_datatypes[tid] = number;
    if (m_sizes.size() <= number)
        m_sizes.resize(number + 1, 0);
    if (datatype != nullptr && number != 0)
        if (const std::int64_t size = size_of(tid, *datatype);
            size > 0 && size <= std::numeric_limits<std::int32_t>::max())
            m_sizes[number] = static_cast<std::int32_t>(size);
    return number;
}

/// The `size` of a distributed array is its number of processes.
std::int64_t ObjectNumbers::size_of(std::int64_t tid, const Datatype& datatype)
{
    if (datatype.combiner != "DARRAY" || datatype.rows.empty())
        return datatype.attributes.integer("size").value_or(0);
    const MappedType* const mapped = m_maps.find_possible(m_rank, tid);
    return mapped == nullptr ? 0 : mapped->map->size();
}

Number ObjectNumbers::group(std::string_view members)
{
    if (members.empty())
        return empty_group;
    return members == m_world_group ? world_group : m_groups.of(std::string(members));
}

Number ObjectNumbers::key(std::string_view key)
{
    const auto predefined = number_of(Code::key, key);
    return predefined ? *predefined : m_keys.of(std::string(key));
}

Number ObjectNumbers::operation(std::string_view name)
{
    const auto predefined = number_of(Code::operation, name);
    return predefined ? *predefined : operations.last(false);
}

Number ObjectNumbers::request(std::int64_t rid) const
{
    constexpr std::uint64_t most = std::uint64_t{1} << 30; // later ones have the numbers of earlier ones
    const auto persistent = m_persistent.find(rid);
    if (persistent != m_persistent.end())
        rid = persistent->second;
    if (rid < 0 || m_hidden.contains(rid))
        return null_request;
    return first_request + static_cast<Number>(static_cast<std::uint64_t>(rid) % most);
}

void ObjectNumbers::forget(std::int64_t rid)
{
    m_persistent.erase(rid);
    m_hidden.erase(rid);
}

} // namespace hdtrace::exporter::dumpi
