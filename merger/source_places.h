// Where in the source a program calls something: functions, files and lines, also of what compilers put into
// other functions.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hdtrace::merger {

/// What is not known is empty or 0.
struct SourcePlace {
    std::string function;
    std::string file;
    std::int64_t line = 0;

    auto operator<=>(const SourcePlace&) const = default;
};

/// Of one return address, the innermost first: all but the last were put into the next one by the compiler.
using SourcePlaces = std::vector<SourcePlace>;

struct WantedPlaces {
    std::string path;           ///< of the object file
    std::string build_id;       ///< which it must have
    std::int64_t used_from = 0; ///< without a build id: it must not have been changed later, in nanoseconds
    std::vector<std::int64_t> return_addresses; ///< as the file is linked, ascending
};

/// Where debug information is that is not in the object files.
inline constexpr const char* default_debug_directory = "/usr/lib/debug";

/// The places by return address, as far as they are known. Whatever stands in the file, this ends soon, and
/// nothing but files of this machine is read. Throws std::runtime_error that says why the file is of no use.
std::map<std::int64_t, SourcePlaces> find_source_places(const WantedPlaces& wanted,
                                                        const std::string& debug_directory);

} // namespace hdtrace::merger
