#include "hdtrace/reader/cut_off.h"

namespace hdtrace::detail {

std::string missing_end(const WholeLines& lines, const XmlReader& xml, bool has_root)
{
    const std::string end = has_root ? "</Program>" : "all from <Program> on";
    return lines.cut_off() ? "the end of line " + std::to_string(xml.lines_read() + 1) + " and " + end : end;
}

} // namespace hdtrace::detail
