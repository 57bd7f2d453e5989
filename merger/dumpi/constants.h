// Numbers that DUMPI's files have for what MPI defines, and the layout of the files. Everything is
// big-endian.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "merger/dumpi/functions.h"

namespace hdtrace::dumpi {

inline constexpr std::uint64_t file_magic = 0xffaadd44554d5049; ///< FF AA DD "DUMPI"
inline constexpr std::uint64_t footer_magic = 0xf007fee7;
inline constexpr std::size_t index_bytes = 64;
inline constexpr std::uint8_t version[] = {1, 1, 0};

// Labels beside those of functions.
inline constexpr std::uint16_t label_count = 290; ///< of functions; in the footer it stands for all of them
inline constexpr std::uint16_t label_enter = 291;
inline constexpr std::uint16_t label_exit = 292;
inline constexpr std::uint16_t label_end = 293;

// What stands before the arguments of a record.
inline constexpr std::uint8_t mask_statuses = 0x03;
inline constexpr std::uint8_t mask_cpu = 0x04;
inline constexpr std::uint8_t mask_wall = 0x08;
inline constexpr std::uint8_t mask_thread = 0x40;
inline constexpr std::uint8_t mask_perf = 0x80;

inline constexpr std::int32_t any_source = -1;
inline constexpr std::int32_t root_rank =
    -2; ///< where ranks are translated: MPI_ROOT, and MPI_PROC_NULL, too
inline constexpr std::int32_t any_tag = -1;
/// As MPICH and Open MPI have it: arguments are what the program passed.
inline constexpr std::int32_t undefined = -32766;

// Numbers of objects.
inline constexpr std::uint32_t null_communicator = 1, world = 2, self = 3, first_communicator = 4;
inline constexpr std::uint32_t null_group = 1, empty_group = 2, world_group = 3, first_group = 4;
inline constexpr std::uint32_t null_request = 1, first_request = 2;
inline constexpr std::uint32_t null_datatype = 1, byte_datatype = 5, first_datatype = 28;
inline constexpr std::uint32_t first_file = 1, first_info = 1, first_window = 1;
inline constexpr std::uint32_t null_errhandler = 1, first_errhandler = 2;
inline constexpr std::uint32_t first_key = 10;
inline constexpr std::uint32_t null_operation = 14, first_operation = 15;

struct Predefined {
    std::string_view name; ///< as our traces have it
    std::uint8_t number;
    std::uint8_t size = 0; ///< of a datatype, in bytes
};

/// The name of a number, and the number of a name; nothing if there is none. Of a sum of constants
/// (`CREATE|RDWR`) there is no number.
std::optional<std::uint8_t> number_of(Code code, std::string_view name);
std::string_view name_of(Code code, std::uint8_t number);

/// All predefined datatypes, names that share a number among them.
std::span<const Predefined> predefined_datatypes();

/// The number of an error class; 16 (MPI_ERR_OTHER) for those that nobody knows.
std::int32_t error_class(std::string_view name);

/// What MPI libraries pass for constants of which DUMPI keeps the library's value.
struct NativeConstants {
    std::int32_t root = root_rank;
    std::int32_t no_process = root_rank;
    std::int32_t default_distribution = -1;
    bool is_mpich = false;

    /// @p library as MPI_Get_library_version says it.
    static NativeConstants of(std::string_view library);
    /// Of a predefined key; nothing if it is none.
    std::optional<std::int32_t> key(std::string_view name) const;
};

} // namespace hdtrace::dumpi
