#include "hdtrace/writer/time_text.h"

namespace hdtrace {

char* TimeText::put_and_keep(char* out, int64_t time)
{
    char* const end = put_all_digits(out, time);
    if (time >= m_base) {
        m_span = time - (time - m_base) % last_digits_end;
        m_span_length = static_cast<size_t>(end - last_digits - out);
        memcpy(m_span_text, out, m_span_length);
    }
    return cut(end);
}

char* TimeText::put_all_digits(char* out, int64_t time) const
{
    return put_seconds(out, time >= m_base ? time - m_base : 0);
}

} // namespace hdtrace
