#include "hdtrace/writer/named_values.h"

#include "hdtrace/writer/text.h"

namespace hdtrace {

char* put_name(char* out, NamedValues names, int value)
{
    for (const NamedValue& candidate : names)
        if (candidate.value == value)
            return put_constant(out, candidate.name);
    return put_number(out, value);
}

char* put_names(char* out, NamedValues names, int value)
{
    const char* const begin = out;
    for (const NamedValue& candidate : names) {
        if ((value & candidate.value) == 0)
            continue;
        if (out != begin)
            out = put_text(out, "|");
        out = put_constant(out, candidate.name);
        value &= ~candidate.value;
    }
    if (out == begin)
        return put_number(out, value);
    return value != 0 ? put_number(put_text(out, "|"), value) : out;
}

size_t room_for_names(NamedValues names)
{
    size_t room = max_number_length;
    for (const NamedValue& candidate : names)
        room += strlen(candidate.name) + 1;
    return room;
}

} // namespace hdtrace
