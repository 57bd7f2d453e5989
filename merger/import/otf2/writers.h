// What is known of the programs that write archives of OTF2, where the format leaves it to them.
#pragma once

#include <cstdint>
#include <string_view>

namespace hdtrace::importer::otf2 {

/// Which bytes of a collective operation are counted.
enum class Counted : std::uint8_t {
    unknown,
    to_others,     ///< each part that goes to another member
    to_all,        ///< each part, also the process's own
    argument_once, ///< what the arguments of the call describe
};

struct Writer {
    std::string_view name = {}; ///< where the archive does not tell it
    Counted counts = Counted::unknown;
    /// What it does not tell of a run besides what the format has no place for; empty: nothing.
    std::string_view lacks = {};
};

/// EZTrace does not say that it is the creator, but defines a region of its own.
constexpr std::string_view region_of_eztrace = "EZTrace finalize";

/// @p creator: as the archive says it.
inline Writer writer_of(std::string_view creator, bool has_region_of_eztrace)
{
    if (creator.starts_with("hdtrace"))
        return {.counts = Counted::to_others};
    if (creator.starts_with("Score-P"))
        return {.counts = Counted::to_all};
    if (has_region_of_eztrace)
        return {.name = "EZTrace",
                .counts = Counted::argument_once,
                .lacks = "the ends of most operations with requests, the messages of some calls"};
    return {};
}

} // namespace hdtrace::importer::otf2
