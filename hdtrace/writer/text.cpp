#include "hdtrace/writer/text.h"

#include <glib.h>

namespace hdtrace {

namespace {

char* put_up_to_two_digits(char* out, unsigned value)
{
    if (value >= 10)
        return detail::put_pair(out, value);
    *out = static_cast<char>('0' + value);
    return out + 1;
}

template <int Pairs> char* put_digits(char* out, uint32_t value)
{
    detail::DigitsInPairs<Pairs> digits(value);
    return digits.put_rest(put_up_to_two_digits(out, digits.first()));
}

// Ids that are counted have as many digits as the last one nearly always: the processor foresees which way it
// goes.
char* put_unsigned(char* out, uint64_t value)
{
    if (value < 100)
        return put_up_to_two_digits(out, static_cast<unsigned>(value));
    if (value < 10'000)
        return put_digits<1>(out, static_cast<uint32_t>(value));
    if (value < last_digits_end)
        return put_digits<2>(out, static_cast<uint32_t>(value));
    return put_last_digits(put_unsigned(out, value / last_digits_end),
                           static_cast<uint32_t>(value % last_digits_end));
}

} // namespace

char* put_long_number(char* out, int64_t value)
{
    if (value >= 0)
        return put_unsigned(out, static_cast<uint64_t>(value));
    *out = '-';
    return put_unsigned(out + 1, 0 - static_cast<uint64_t>(value));
}

size_t utf8_length(const char* text, size_t available)
{
    const gunichar character = g_utf8_get_char_validated(text, static_cast<gssize>(available));
    const bool invalid = character == static_cast<gunichar>(-1) || character == static_cast<gunichar>(-2);
    return invalid ? 0 : static_cast<size_t>(g_utf8_next_char(text) - text);
}

namespace {

bool is_printable_ascii(char character)
{
    return character >= 0x20 && character < 0x7f;
}

// XML 1.0 has no way to write U+FFFE and U+FFFF either.
bool is_xml_noncharacter(const char* text, size_t length)
{
    return length == 3 && memcmp(text, "\xEF\xBF", 2) == 0 &&
           (static_cast<unsigned char>(text[2]) | 1) == 0xBF;
}

char* put_xml_character(char* out, char character)
{
    switch (character) {
    case '&':
        return put_text(out, "&amp;");
    case '<':
        return put_text(out, "&lt;");
    case '>':
        return put_text(out, "&gt;");
    case '\'':
        return put_text(out, "&apos;");
    case '"':
        return put_text(out, "&quot;");
    case '\n':
        return put_text(out, "&#10;");
    case '\r':
        return put_text(out, "&#13;");
    case '\t':
        return put_text(out, "&#9;");
    default:
        if (!is_printable_ascii(character))
            return put_text(out, "\xEF\xBF\xBD");
        *out = character;
        return out + 1;
    }
}

char* put_info_character(char* out, char character)
{
    switch (character) {
    case '\\':
        return put_text(out, "\\\\");
    case '\'':
        return put_text(out, "\\'");
    case '"':
        return put_text(out, "\\\"");
    case '\n':
        return put_text(out, "\\n");
    case '\r':
        return put_text(out, "\\r");
    case '\t':
        return put_text(out, "\\t");
    default:
        if (is_printable_ascii(character)) {
            *out = character;
            return out + 1;
        }
        const unsigned byte = static_cast<unsigned char>(character);
        out = put_text(out, "\\x");
        *out++ = "0123456789abcdef"[byte >> 4];
        *out++ = "0123456789abcdef"[byte & 15];
        return out;
    }
}

template <typename PutCharacter, typename Refuses>
char* put_escaped(char* out, const char* text, size_t length, PutCharacter put_character, Refuses refuses)
{
    for (size_t i = 0; i < length;) {
        const bool is_ascii = static_cast<signed char>(text[i]) >= 0;
        const size_t bytes = is_ascii ? 1 : utf8_length(text + i, length - i);
        if (is_ascii || bytes == 0 || refuses(text + i, bytes)) {
            out = put_character(out, text[i]);
            ++i;
        } else {
            memcpy(out, text + i, bytes);
            out += bytes;
            i += bytes;
        }
    }
    return out;
}

} // namespace

char* put_xml_escaped(char* out, const char* text, size_t length)
{
    return put_escaped(out, text, length, put_xml_character, is_xml_noncharacter);
}

char* put_info_escaped(char* out, const char* text, size_t length)
{
    return put_escaped(out, text, length, put_info_character, [](const char*, size_t) { return false; });
}

} // namespace hdtrace
