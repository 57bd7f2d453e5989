// Numbers in the attributes of elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "hdtrace/reader/element.h"

namespace hdtrace::exporter {

/// Empty if there is no such attribute or it is no number.
std::optional<std::int64_t> find_integer(const Element& element, std::string_view name);

inline std::int64_t integer_or(const Element& element, std::string_view name, std::int64_t otherwise)
{
    return find_integer(element, name).value_or(otherwise);
}

} // namespace hdtrace::exporter
