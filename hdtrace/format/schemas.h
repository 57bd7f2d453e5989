// schemas.h - the text of the files in hdtrace/schemas.
#pragma once

#include <string_view>

namespace hdtrace::detail {

extern const std::string_view trc_schema;
extern const std::string_view proj_schema;

} // namespace hdtrace::detail
