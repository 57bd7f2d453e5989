#include "hdtrace/tools/printable.h"

#include <algorithm>

#include <glib.h>

namespace hdtrace::tools {

namespace {

bool is_harmless(gunichar c)
{
    switch (g_unichar_type(c)) {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT: // among them all that change the direction of text
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
        return false;
    default:
        return true;
    }
}

void append_escape(std::string& line, char byte)
{
    constexpr char digits[] = "0123456789abcdef";
    switch (byte) {
    case '\n':
        line += "\\n";
        break;
    case '\r':
        line += "\\r";
        break;
    case '\t':
        line += "\\t";
        break;
    default:
        line += "\\x";
        line += digits[static_cast<unsigned char>(byte) / 16];
        line += digits[static_cast<unsigned char>(byte) % 16];
    }
}

std::string escaped(std::string_view text, bool keeps_line_feeds)
{
    std::string line;
    line.reserve(text.size());
    while (!text.empty()) {
        std::size_t size = 1;
        bool stays = text[0] >= ' ' && text[0] <= '~';
        if (static_cast<unsigned char>(text[0]) >= 0x80) {
            const gunichar c = g_utf8_get_char_validated(
                text.data(), static_cast<gssize>(std::min<std::size_t>(text.size(), 4)));
            const bool is_valid = c != static_cast<gunichar>(-1) && c != static_cast<gunichar>(-2);
            stays = is_valid && is_harmless(c);
            if (is_valid)
                size = static_cast<std::size_t>(g_unichar_to_utf8(c, nullptr));
        }
        if (stays || (keeps_line_feeds && text[0] == '\n'))
            line += text.substr(0, size);
        else
            for (const char byte : text.substr(0, size))
                append_escape(line, byte);
        text.remove_prefix(size);
    }
    return line;
}

} // namespace

std::string printable(std::string_view text)
{
    return escaped(text, false);
}

std::string printable_lines(std::string_view text)
{
    return escaped(text, true);
}

} // namespace hdtrace::tools
