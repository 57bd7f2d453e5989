// region_name.h - a region's name among those that are around it.
#pragma once

#include <string>
#include <string_view>

namespace hdtrace::detail {

/// As it stands in a path (docs/regions.md): its own slashes and backslashes have a backslash before them.
std::string name_in_path(std::string_view name);

} // namespace hdtrace::detail
