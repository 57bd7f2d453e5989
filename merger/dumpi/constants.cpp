#include "merger/dumpi/constants.h"

#include <algorithm>
#include <iterator>

namespace hdtrace::dumpi {
namespace {

constexpr Predefined datatypes[] = {
    {"MPI_DATATYPE_NULL", 1, 0},
    {"MPI_CHAR", 2, 1},
    {"MPI_SIGNED_CHAR", 3, 1},
    {"MPI_UNSIGNED_CHAR", 4, 1},
    {"MPI_BYTE", 5, 1},
    {"MPI_WCHAR", 6, 4},
    {"MPI_SHORT", 7, 2},
    {"MPI_UNSIGNED_SHORT", 8, 2},
    {"MPI_INT", 9, 4},
    {"MPI_UNSIGNED", 10, 4},
    {"MPI_UNSIGNED_INT", 10, 4},
    {"MPI_LONG", 11, 8},
    {"MPI_UNSIGNED_LONG", 12, 8},
    {"MPI_FLOAT", 13, 4},
    {"MPI_DOUBLE", 14, 8},
    {"MPI_LONG_DOUBLE", 15, 16},
    {"MPI_UNSIGNED_LONG_LONG", 17, 8},
    {"MPI_LONG_LONG", 18, 8}, // 16 has no uses: both names are one handle
    {"MPI_LONG_LONG_INT", 18, 8},
    {"MPI_PACKED", 19, 1},
    {"MPI_LB", 20, 0},
    {"MPI_UB", 21, 0},
    {"MPI_FLOAT_INT", 22, 8},
    {"MPI_DOUBLE_INT", 23, 12},
    {"MPI_LONG_INT", 24, 12},
    {"MPI_SHORT_INT", 25, 6},
    {"MPI_2INT", 26, 8},
    {"MPI_LONG_DOUBLE_INT", 27, 20},
};

constexpr Predefined operations[] = {
    {"MPI_MAX", 1},     {"MPI_MIN", 2},     {"MPI_SUM", 3},      {"MPI_PROD", 4},     {"MPI_LAND", 5},
    {"MPI_BAND", 6},    {"MPI_LOR", 7},     {"MPI_BOR", 8},      {"MPI_LXOR", 9},     {"MPI_BXOR", 10},
    {"MPI_MINLOC", 11}, {"MPI_MAXLOC", 12}, {"MPI_REPLACE", 13}, {"MPI_OP_NULL", 14},
};

constexpr Predefined keys[] = {
    {"MPI_TAG_UB", 0},        {"MPI_HOST", 1},          {"MPI_IO", 2},     {"MPI_WTIME_IS_GLOBAL", 3},
    {"MPI_UNIVERSE_SIZE", 4}, {"MPI_LASTUSEDCODE", 5},  {"MPI_APPNUM", 6}, {"MPI_WIN_BASE", 7},
    {"MPI_WIN_SIZE", 8},      {"MPI_WIN_DISP_UNIT", 9},
};

constexpr Predefined file_modes[] = {
    {"RDONLY", 1},          {"RDWR", 2},        {"WRONLY", 3},     {"CREATE", 4}, {"EXCL", 5},
    {"DELETE_ON_CLOSE", 6}, {"UNIQUE_OPEN", 7}, {"SEQUENTIAL", 8}, {"APPEND", 9},
};

constexpr Predefined locks[] = {{"MPI_LOCK_SHARED", 1}, {"MPI_LOCK_EXCLUSIVE", 2}};
constexpr Predefined assertions[] = {{"0", 0},     {"NOCHECK", 1},   {"NOSTORE", 2},
                                     {"NOPUT", 4}, {"NOPRECEDE", 8}, {"NOSUCCEED", 16}};
constexpr Predefined topologies[] = {{"MPI_GRAPH", 1}, {"MPI_CART", 2}, {"MPI_UNDEFINED", 3}};
constexpr Predefined comparisons[] = {
    {"MPI_IDENT", 1}, {"MPI_CONGRUENT", 2}, {"MPI_SIMILAR", 3}, {"MPI_UNEQUAL", 4}};
constexpr Predefined orders[] = {{"MPI_ORDER_C", 1}, {"MPI_ORDER_FORTRAN", 2}};
constexpr Predefined distributions[] = {{"MPI_DISTRIBUTE_BLOCK", 1},
                                        {"MPI_DISTRIBUTE_CYCLIC", 2},
                                        {"MPI_DISTRIBUTE_NONE", 3},
                                        {"MPI_DISTRIBUTE_DFLT_DARG", 4}};
// Our traces have the numbers of MPI's constants, which both libraries count from 0.
constexpr Predefined thread_levels[] = {{"0", 1}, {"1", 2}, {"2", 3}, {"3", 4}};
constexpr Predefined type_classes[] = {
    {"MPI_TYPECLASS_REAL", 1}, {"MPI_TYPECLASS_INTEGER", 2}, {"MPI_TYPECLASS_COMPLEX", 3}};
constexpr Predefined whences[] = {{"MPI_SEEK_SET", 1}, {"MPI_SEEK_CUR", 2}, {"MPI_SEEK_END", 3}};
constexpr Predefined combiners[] = {
    {"NAMED", 1},           {"DUP", 2},
    {"CONTIGUOUS", 3},      {"VECTOR", 4},
    {"HVECTOR_INTEGER", 5}, {"HVECTOR", 6},
    {"INDEXED", 7},         {"HINDEXED_INTEGER", 8},
    {"HINDEXED", 9},        {"INDEXED_BLOCK", 10},
    {"STRUCT_INTEGER", 11}, {"STRUCT", 12},
    {"SUBARRAY", 13},       {"DARRAY", 14},
    {"F90_REAL", 15},       {"F90_COMPLEX", 16},
    {"F90_INTEGER", 17},    {"RESIZED", 18},
};

// As Open MPI numbers them; MPICH has the same up to 12.
constexpr std::string_view error_classes[] = {
    "MPI_SUCCESS",
    "MPI_ERR_BUFFER",
    "MPI_ERR_COUNT",
    "MPI_ERR_TYPE",
    "MPI_ERR_TAG",
    "MPI_ERR_COMM",
    "MPI_ERR_RANK",
    "MPI_ERR_REQUEST",
    "MPI_ERR_ROOT",
    "MPI_ERR_GROUP",
    "MPI_ERR_OP",
    "MPI_ERR_TOPOLOGY",
    "MPI_ERR_DIMS",
    "MPI_ERR_ARG",
    "MPI_ERR_UNKNOWN",
    "MPI_ERR_TRUNCATE",
    "MPI_ERR_OTHER",
    "MPI_ERR_INTERN",
    "MPI_ERR_IN_STATUS",
    "MPI_ERR_PENDING",
    "MPI_ERR_ACCESS",
    "MPI_ERR_AMODE",
    "MPI_ERR_ASSERT",
    "MPI_ERR_BAD_FILE",
    "MPI_ERR_BASE",
    "MPI_ERR_CONVERSION",
    "MPI_ERR_DISP",
    "MPI_ERR_DUP_DATAREP",
    "MPI_ERR_FILE_EXISTS",
    "MPI_ERR_FILE_IN_USE",
    "MPI_ERR_FILE",
    "MPI_ERR_INFO_KEY",
    "MPI_ERR_INFO_NOKEY",
    "MPI_ERR_INFO_VALUE",
    "MPI_ERR_INFO",
    "MPI_ERR_IO",
    "MPI_ERR_KEYVAL",
    "MPI_ERR_LOCKTYPE",
    "MPI_ERR_NAME",
    "MPI_ERR_NO_MEM",
    "MPI_ERR_NOT_SAME",
    "MPI_ERR_NO_SPACE",
    "MPI_ERR_NO_SUCH_FILE",
    "MPI_ERR_PORT",
    "MPI_ERR_QUOTA",
    "MPI_ERR_READ_ONLY",
    "MPI_ERR_RMA_CONFLICT",
    "MPI_ERR_RMA_SYNC",
    "MPI_ERR_SERVICE",
    "MPI_ERR_SIZE",
    "MPI_ERR_SPAWN",
    "MPI_ERR_UNSUPPORTED_DATAREP",
    "MPI_ERR_UNSUPPORTED_OPERATION",
    "MPI_ERR_WIN",
};

struct NativeKey {
    std::string_view name;
    std::int32_t open_mpi;
    std::int32_t mpich;
};

constexpr NativeKey native_keys[] = {
    {"MPI_TAG_UB", 0, 0x64400001},
    {"MPI_HOST", 1, 0x64400003},
    {"MPI_IO", 2, 0x64400005},
    {"MPI_WTIME_IS_GLOBAL", 3, 0x64400007},
    {"MPI_APPNUM", 4, 0x6440000d},
    {"MPI_LASTUSEDCODE", 5, 0x6440000b},
    {"MPI_UNIVERSE_SIZE", 6, 0x64400009},
    {"MPI_WIN_BASE", 7, 0x66000001},
    {"MPI_WIN_SIZE", 8, 0x66000003},
    {"MPI_WIN_DISP_UNIT", 9, 0x66000005},
};

std::span<const Predefined> table_of(Code code)
{
    switch (code) {
    case Code::datatype:
        return datatypes;
    case Code::operation:
        return operations;
    case Code::key:
        return keys;
    case Code::file_mode:
        return file_modes;
    case Code::lock:
        return locks;
    case Code::assertion:
        return assertions;
    case Code::topology:
        return topologies;
    case Code::comparison:
        return comparisons;
    case Code::order:
        return orders;
    case Code::distribution:
        return distributions;
    case Code::thread_level:
        return thread_levels;
    case Code::type_class:
        return type_classes;
    case Code::whence:
        return whences;
    case Code::combiner:
        return combiners;
    default:
        return {};
    }
}

} // namespace

std::optional<std::uint8_t> number_of(Code code, std::string_view name)
{
    const std::span<const Predefined> table = table_of(code);
    const auto found = std::ranges::find(table, name, &Predefined::name);
    return found == table.end() ? std::nullopt : std::optional(found->number);
}

std::string_view name_of(Code code, std::uint8_t number)
{
    const std::span<const Predefined> table = table_of(code);
    const auto found = std::ranges::find(table, number, &Predefined::number);
    return found == table.end() ? std::string_view() : found->name;
}

std::span<const Predefined> predefined_datatypes()
{
    return datatypes;
}

std::int32_t error_class(std::string_view name)
{
    constexpr std::int32_t other = 16;
    const auto found = std::ranges::find(error_classes, name);
    return found == std::end(error_classes) ? other
                                            : static_cast<std::int32_t>(found - std::begin(error_classes));
}

NativeConstants NativeConstants::of(std::string_view library)
{
    if (library.starts_with("Open MPI"))
        return {.root = -4, .no_process = -2, .default_distribution = -1};
    if (library.starts_with("MPICH") || library.find("Intel") != std::string_view::npos)
        return {.root = -3, .no_process = -1, .default_distribution = -49767, .is_mpich = true};
    return {};
}

std::optional<std::int32_t> NativeConstants::key(std::string_view name) const
{
    const auto found = std::ranges::find(native_keys, name, &NativeKey::name);
    return found == std::end(native_keys) ? std::nullopt
                                          : std::optional(is_mpich ? found->mpich : found->open_mpi);
}

} // namespace hdtrace::dumpi
