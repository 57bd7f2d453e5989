#include "merger/combiners.h"

#include <algorithm>

namespace hdtrace::merger {

namespace {

constexpr Position integer(std::size_t start, std::size_t factor = 0)
{
    return {Array::integers, start, factor};
}

constexpr Position address(std::size_t start)
{
    return {Array::addresses, start};
}

constexpr Position type(std::size_t start)
{
    return {Array::types, start};
}

constexpr int none = Combiner::no_repeat;

// Names and order of attributes and children are those of the specification's Appendix B, with its various
// spellings; what it lacks follows behind.
const Combiner combiners[] = {
    {"NAMED", none, {}},
    {"DUP", none, {{"oldType", type(0)}}},
    {"CONTIGUOUS", none, {{"count", integer(0)}, {"oldType", type(0)}}},
    {"VECTOR",
     none,
     {{"count", integer(0)}, {"blocklength", integer(1)}, {"stride", integer(2)}, {"oldType", type(0)}}},
    {"HVECTOR",
     none,
     {{"count", integer(0)}, {"blocklength", integer(1)}, {"stride", address(0)}, {"oldType", type(0)}}},
    {"HVECTOR_INTEGER",
     none,
     {{"count", integer(0)}, {"blocklength", integer(1)}, {"stride", integer(2)}, {"oldType", type(0)}}},
    {"RESIZED",
     none,
     {{"lowerBound", address(0)}, {"extend", address(1)}, {"oldType", type(0)}, {"extent", address(1)}}},
    {"INDEXED",
     0,
     {{"count", integer(0)}, {"oldType", type(0)}},
     "BLOCK",
     {{"len", integer(1)}, {"index", integer(1, 1)}}},
    {"HINDEXED",
     0,
     {{"count", integer(0)}, {"oldType", type(0)}},
     "BLOCK",
     {{"len", integer(1)}, {"index", address(0)}}},
    {"HINDEXED_INTEGER",
     0,
     {{"count", integer(0)}, {"oldType", type(0)}},
     "BLOCK",
     {{"len", integer(1)}, {"index", integer(1, 1)}}},
    {"INDEXED_BLOCK",
     0,
     {{"count", integer(0)}, {"oldType", type(0)}, {"blockLength", integer(1)}},
     "Block",
     {{"displacement", integer(2)}}},
    {"HINDEXED_BLOCK",
     0,
     {{"count", integer(0)}, {"oldType", type(0)}, {"blockLength", integer(1)}},
     "Block",
     {{"displacement", address(0)}}},
    {"STRUCT",
     0,
     {{"count", integer(0)}},
     "Type",
     {{"id", type(0)}, {"displacement", address(0)}, {"blocklen", integer(1)}}},
    {"STRUCT_INTEGER",
     0,
     {{"count", integer(0)}},
     "Type",
     {{"id", type(0)}, {"displacement", integer(1, 1)}, {"blocklen", integer(1)}}},
    {"SUBARRAY",
     0,
     {{"count", integer(0)}, {"order", integer(1, 3)}, {"ndims", integer(0)}, {"oldType", type(0)}},
     "Dimension",
     {{"size", integer(1)}, {"subsize", integer(1, 1)}, {"start", integer(1, 2)}}},
    {"DARRAY",
     2,
     {{"size", integer(0)},
      {"order", integer(3, 4)},
      {"rank", integer(1)},
      {"dims", integer(2)},
      {"ndims", integer(2)},
      {"oldType", type(0)}},
     "Dimension",
     {{"gsize", integer(3)}, {"distrib", integer(3, 1)}, {"darg", integer(3, 2)}, {"psize", integer(3, 3)}}},
    {"F90_REAL", none, {{"precision", integer(0)}, {"range", integer(1)}}},
    {"F90_COMPLEX", none, {{"precision", integer(0)}, {"range", integer(1)}}},
    {"F90_INTEGER", none, {{"range", integer(0)}}},
};

} // namespace

bool Combiner::has_attribute(std::string_view attribute) const
{
    return std::ranges::find(attributes, attribute, &ContentAttribute::name) != attributes.end();
}

const Combiner* find_combiner(std::string_view name)
{
    const auto found = std::ranges::find(combiners, name, &Combiner::name);
    return found == std::end(combiners) ? nullptr : found;
}

bool has_element(std::string_view combiner)
{
    return find_combiner(combiner) || combiner == "VALUE_INDEX" || combiner == unknown_combiner;
}

} // namespace hdtrace::merger
