#include "hdtrace/writer/compact_element.h"

namespace hdtrace {

const char* CompactElement::find_name(NamedValues names, int value)
{
    for (const NamedValue& candidate : names) {
        if (candidate.value == value)
            return candidate.name;
    }
    return nullptr;
}

char* CompactElement::put_first(TraceWriter& writer, char* cursor, Form* form, int64_t begin, int64_t end)
{
    CompactLines& lines = writer.m_compact;
    const size_t size = lines.is_lost(form) ? 0 : lines.room_for_number(form);
    if (size == 0 || !room(writer, cursor, size))
        return writer.lose_compact_line();
    return lines.put_line(lines.give_number(cursor, form), form, begin, end);
}

} // namespace hdtrace
