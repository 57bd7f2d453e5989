#include "hdtrace/checking/reductions.h"

#include <algorithm>
#include <string_view>

#include "hdtrace/format/element.h"

namespace hdtrace {
namespace {

bool is_any_of(std::string_view text, std::initializer_list<std::string_view> list)
{
    return std::ranges::find(list, text) != list.end();
}

bool begins_with_any_of(std::string_view text, std::initializer_list<std::string_view> list)
{
    return std::ranges::any_of(list, [&](std::string_view one) { return text.starts_with(one); });
}

bool is_pair(std::string_view type)
{
    return type.starts_with("MPI_2") || is_any_of(type, {"MPI_FLOAT_INT", "MPI_DOUBLE_INT", "MPI_LONG_INT",
                                                         "MPI_SHORT_INT", "MPI_LONG_DOUBLE_INT"});
}

bool is_complex(std::string_view type)
{
    return type.find("COMPLEX") != std::string_view::npos;
}

bool is_floating(std::string_view type)
{
    return !is_complex(type) && !is_pair(type) &&
           begins_with_any_of(type, {"MPI_FLOAT", "MPI_DOUBLE", "MPI_LONG_DOUBLE", "MPI_REAL"});
}

} // namespace

std::optional<std::string> why_not_defined(std::string_view op, const Datatype* datatype, bool is_one_sided)
{
    if (op == "MPI_OP_NULL")
        return "was given MPI_OP_NULL";
    if (is_one_sided && op == "USER")
        return "was given an operation of the program's own, which one-sided communication cannot use";
    if (!is_one_sided && is_any_of(op, {"MPI_REPLACE", "MPI_NO_OP"}))
        return "was given " + std::string(op) + ", which only one-sided communication can use";
    const bool is_of_any_type = op == "USER" || is_any_of(op, {"MPI_REPLACE", "MPI_NO_OP"});
    if (is_of_any_type || !datatype)
        return std::nullopt;
    const auto of_type = [&](std::string_view type) {
        return "uses " + std::string(op) + ", which is not defined for " + std::string(type);
    };
    if (datatype->combiner != "NAMED")
        return is_one_sided || datatype->combiner.starts_with("F90_") || datatype->combiner == "DUP"
                   ? std::nullopt
                   : std::optional(of_type("a datatype of the program's own"));
    const auto name = datatype->attributes.value("name");
    if (!name || !name->starts_with("MPI_")) // of which another tool only knew that it is predefined
        return std::nullopt;
    const bool is_location = is_any_of(op, {"MPI_MINLOC", "MPI_MAXLOC"});
    const bool is_bitwise = is_any_of(op, {"MPI_BAND", "MPI_BOR", "MPI_BXOR"});
    const bool is_logical = is_any_of(op, {"MPI_LAND", "MPI_LOR", "MPI_LXOR"});
    const bool is_order = is_any_of(op, {"MPI_MIN", "MPI_MAX"});
    const bool is_wrong = is_location != is_pair(*name) ||
                          ((is_bitwise || is_logical) && (is_floating(*name) || is_complex(*name))) ||
                          (is_order && is_complex(*name)) || (!is_bitwise && *name == "MPI_BYTE");
    return is_wrong ? std::optional(of_type(*name)) : std::nullopt;
}

} // namespace hdtrace
