#include "hdtrace/format/cut_off.h"

namespace hdtrace::detail {

std::string missing_end(const WholeLines& lines, std::int64_t whole_lines, bool has_root)
{
    const std::string end = has_root ? "</Program>" : "all from <Program> on";
    return lines.cut_off() ? "the end of line " + std::to_string(whole_lines + 1) + " and " + end : end;
}

} // namespace hdtrace::detail
