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

char* CompactElement::put_unexpected(TraceWriter& writer, char* cursor, Form* form, int64_t begin,
                                     int64_t end)
{
    CompactLines& lines = writer.m_compact;
    if (!lines.has_number(form)) {
        const size_t size = lines.is_lost(form) ? 0 : lines.room_for_number(form);
        if (size == 0 || !room(writer, cursor, size))
            return writer.lose_line();
        cursor = lines.give_number(cursor, form);
    }
    lines.expect(form);
    return lines.put_line(cursor, form, lines.changes(form), begin, end);
}

} // namespace hdtrace
