#include "hdtrace/writer/element.h"

namespace hdtrace {

char* TextElement::put_times(TimeText& times, char* cursor, int64_t begin, int64_t end)
{
    cursor = times.put(put_text(cursor, " time='"), begin);
    cursor = times.put(put_text(cursor, "' end='"), end);
    return put_text(cursor, "'");
}

char* TextElement::end_children(TraceWriter& writer, char* cursor, const char* element_name)
{
    room(writer, cursor, child_room);
    return put_text(put_constant(put_text(cursor, "</"), element_name), ">");
}

} // namespace hdtrace
