#include "hdtrace/format/trace_lines.h"

#include <algorithm>

namespace hdtrace::detail {

std::string_view without_blanks_behind(std::string_view line)
{
    return line.substr(0, line.find_last_not_of(" \t\r\n") + 1);
}

bool is_blank(std::string_view line)
{
    return without_blanks_behind(line).empty();
}

bool is_declaration(std::string_view line)
{
    line = without_blanks_behind(line);
    return line == "<?xml version='1.0' encoding='UTF-8'?>" ||
           line == "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
}

bool is_opening_tag(std::string_view line)
{
    const std::string_view tag = without_blanks_behind(line);
    constexpr std::size_t longest_tag = 4096; // which is read again with each line that is not ours
    return tag.size() <= longest_tag && tag.starts_with("<Program") && tag.ends_with('>') &&
           !tag.ends_with("/>") && std::ranges::count(tag, '<') == 1 && std::ranges::count(tag, '>') == 1;
}

} // namespace hdtrace::detail
