// Where in the source a program calls something: functions, files and lines, also of what compilers put into
// other functions.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace hdtrace::merger {

class UsedObject;

/// What is not known is empty or 0.
struct SourcePlace {
    std::string function;
    std::string file;
    std::int64_t line = 0;

    auto operator<=>(const SourcePlace&) const = default;
};

/// Of one return address, the innermost first: all but the last were put into the next one by the compiler.
using SourcePlaces = std::vector<SourcePlace>;

/// Where debug information is that is not in the object files.
inline constexpr const char* default_debug_directory = "/usr/lib/debug";

/// The places by return address, as far as they are known; @p return_addresses are as the file is linked,
/// ascending. Whatever stands in the file, this ends soon. Throws std::runtime_error that says why the file
/// is of no use.
std::map<std::int64_t, SourcePlaces> find_source_places(const UsedObject& object,
                                                        const std::vector<std::int64_t>& return_addresses);

} // namespace hdtrace::merger
