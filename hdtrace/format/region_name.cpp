#include "hdtrace/format/region_name.h"

namespace hdtrace::detail {

std::string name_in_path(std::string_view name)
{
    std::string text;
    for (const char c : name) {
        if (c == '/' || c == '\\')
            text += '\\';
        text += c;
    }
    return text;
}

} // namespace hdtrace::detail
