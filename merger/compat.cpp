#include "merger/compat.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace hdtrace::merger {

namespace {

constexpr std::string_view byte_name = "MPI_BYTE";

/// What the original tools load; they refuse the whole project because of anything else.
constexpr std::string_view loadable_combiners[] = {"CONTIGUOUS", "VECTOR",  "STRUCT",       "SUBARRAY",
                                                   "HINDEXED",   "HVECTOR", "INDEXED_BLOCK"};
constexpr std::string_view loadable_names[] = {byte_name,
                                               "MPI_CHAR",
                                               "MPI_UNSIGNED_CHAR",
                                               "MPI_INT",
                                               "MPI_INTEGER",
                                               "MPI_LONG",
                                               "MPI_LONG_LONG",
                                               "MPI_FLOAT",
                                               "MPI_DOUBLE",
                                               "MPI_DOUBLE_PRECISION",
                                               "MPI_PACKED",
                                               "MPI_LB",
                                               "MPI_UB"};

bool is_loadable(const DescribedDatatype& datatype)
{
    if (datatype.combiner == "NAMED")
        return std::ranges::find(loadable_names, datatype.name) != std::end(loadable_names);
    return datatype.has_contents() &&
           std::ranges::find(loadable_combiners, datatype.combiner) != std::end(loadable_combiners);
}

bool is_byte(const DescribedDatatype* datatype)
{
    return datatype->combiner == "NAMED" && datatype->name == byte_name;
}

DescribedDatatype byte_with_new_id(const ProcessDatatypes& datatypes)
{
    DescribedDatatype byte;
    for (const DescribedDatatype* datatype : datatypes)
        byte.id = std::max(byte.id, datatype->id + 1);
    byte.combiner = "NAMED";
    byte.name = byte_name;
    byte.size = 1;
    byte.lb = 0;
    byte.extent = 1;
    return byte;
}

DescribedDatatype as_bytes(const DescribedDatatype& datatype, std::int64_t byte_id)
{
    if (!datatype.size)
        throw std::invalid_argument("datatype " + std::to_string(datatype.id) + " (" + datatype.combiner +
                                    " " + datatype.name +
                                    ") cannot be replaced, because its size is not in the .info");
    DescribedDatatype bytes = datatype;
    bytes.combiner = "CONTIGUOUS";
    bytes.integers = {std::to_string(*datatype.size)};
    bytes.addresses.clear();
    bytes.types = {byte_id};
    bytes.lb = 0;
    bytes.extent = datatype.size;
    return bytes;
}

} // namespace

std::vector<DescribedDatatype> datatypes_for_piosimhd(const ProcessDatatypes& datatypes)
{
    std::vector<DescribedDatatype> result;
    if (std::ranges::all_of(datatypes,
                            [](const DescribedDatatype* datatype) { return is_loadable(*datatype); })) {
        for (const DescribedDatatype* datatype : datatypes)
            result.push_back(*datatype);
        return result;
    }
    const auto known_byte = std::ranges::find_if(datatypes, is_byte);
    result.push_back(known_byte != datatypes.end() ? **known_byte : byte_with_new_id(datatypes));
    const std::int64_t byte_id = result.front().id;
    for (const DescribedDatatype* datatype : datatypes) {
        if (datatype->id != byte_id)
            result.push_back(is_loadable(*datatype) ? *datatype : as_bytes(*datatype, byte_id));
    }
    return result;
}

} // namespace hdtrace::merger
