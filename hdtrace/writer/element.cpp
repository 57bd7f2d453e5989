#include "hdtrace/writer/element.h"

namespace hdtrace {

namespace {

template <typename Put> inline char* put_both(char* cursor, int64_t begin, int64_t end, Put put)
{
    cursor = put(put_text(cursor, " time='"), begin);
    cursor = put(put_text(cursor, "' end='"), end);
    return put_text(cursor, "'");
}

__attribute__((noinline, cold)) char* put_times_slowly(TimeText& times, char* cursor, int64_t begin,
                                                       int64_t end)
{
    return put_both(cursor, begin, end, [&times](char* out, int64_t time) { return times.put(out, time); });
}

} // namespace

// The usual case calls nothing, so that it saves no registers.
char* TextElement::put_times(TimeText& times, char* cursor, int64_t begin, int64_t end)
{
    if (!__builtin_expect(times.is_in_span(begin) && times.is_in_span(end), true))
        return put_times_slowly(times, cursor, begin, end);
    return put_both(cursor, begin, end,
                    [&times](char* out, int64_t time) { return times.put_in_span(out, time); });
}

char* TextElement::end_children(TraceWriter& writer, char* cursor, const char* element_name)
{
    room(writer, cursor, child_room);
    return put_text(put_constant(put_text(cursor, "</"), element_name), ">");
}

} // namespace hdtrace
