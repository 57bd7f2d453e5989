#include "hdtrace/writer/xml_syntax.h"

#include "hdTrace.h"

#include <errno.h>
#include <glib.h>
#include <initializer_list>

namespace hdtrace {

namespace {

struct Range {
    gunichar first, last;
};

/// A set of characters, quick to ask for those that are usual.
template <size_t Size> class CharacterClass {
  public:
    constexpr CharacterClass(const Range (&ranges)[Size])
    {
        for (size_t i = 0; i < Size; ++i)
            m_ranges[i] = ranges[i];
        for (gunichar character = 0; character < ascii_size; ++character)
            m_ascii[character] = is_in_ranges(character);
    }
    constexpr bool has(gunichar character) const
    {
        return character < ascii_size ? m_ascii[character] : is_in_ranges(character);
    }

  private:
    constexpr bool is_in_ranges(gunichar character) const
    {
        for (const Range& range : m_ranges) {
            if (range.first <= character && character <= range.last)
                return true;
        }
        return false;
    }

    static constexpr gunichar ascii_size = 128;
    Range m_ranges[Size] = {};
    bool m_ascii[ascii_size] = {};
};

// XML 1.0 (fifth edition), 2.3: NameStartChar without the colon, and what NameChar has besides.
constexpr CharacterClass name_start({{'A', 'Z'},
                                     {'_', '_'},
                                     {'a', 'z'},
                                     {0xC0, 0xD6},
                                     {0xD8, 0xF6},
                                     {0xF8, 0x2FF},
                                     {0x370, 0x37D},
                                     {0x37F, 0x1FFF},
                                     {0x200C, 0x200D},
                                     {0x2070, 0x218F},
                                     {0x2C00, 0x2FEF},
                                     {0x3001, 0xD7FF},
                                     {0xF900, 0xFDCF},
                                     {0xFDF0, 0xFFFD},
                                     {0x10000, 0xEFFFF}});
constexpr CharacterClass name_rest({{'-', '.'}, {'0', '9'}, {0xB7, 0xB7}, {0x300, 0x36F}, {0x203F, 0x2040}});
// 2.2: Char
constexpr CharacterClass
    any_character({{'\t', '\n'}, {'\r', '\r'}, {0x20, 0xD7FF}, {0xE000, 0xFFFD}, {0x10000, 0x10FFFF}});
constexpr const char* entities[] = {"amp;", "lt;", "gt;", "apos;", "quot;"};

struct Character {
    gunichar code;
    size_t bytes; // 0 if it is not UTF-8
};

Character character_at(const char* text, size_t length)
{
    if (static_cast<signed char>(*text) >= 0)
        return {static_cast<gunichar>(*text), 1};
    return {g_utf8_get_char(text), utf8_length(text, length)};
}

bool starts_with(const char* text, size_t length, const char* start)
{
    return length >= strlen(start) && memcmp(text, start, strlen(start)) == 0;
}

bool is_space(char character)
{
    return character == ' ' || character == '\t' || character == '\n' || character == '\r';
}

// How long the name at the beginning of the text is.
size_t name_length(const char* text, size_t length)
{
    size_t end = 0;
    while (end < length) {
        const Character character = character_at(text + end, length - end);
        const bool is_good = name_start.has(character.code) || (end > 0 && name_rest.has(character.code));
        if (character.bytes == 0 || !is_good)
            break;
        end += character.bytes;
    }
    return starts_with(text, end, "xml") ? 0 : end;
}

// The length of `#10;` or `#xA;`; 0 if it is no reference to a character of XML.
size_t character_reference_length(const char* text, size_t length)
{
    const bool is_hexadecimal = starts_with(text, length, "#x");
    gunichar character = 0;
    size_t end = is_hexadecimal ? 2 : 1;
    for (; end < length && text[end] != ';'; ++end) {
        const int digit = is_hexadecimal ? g_ascii_xdigit_value(text[end]) : g_ascii_digit_value(text[end]);
        if (digit < 0 || character > 0x10FFFF)
            return 0;
        character = character * (is_hexadecimal ? 16 : 10) + static_cast<gunichar>(digit);
    }
    return end < length && any_character.has(character) ? end + 1 : 0;
}

// The length of a reference without its `&`; 0 if it is none.
size_t reference_length(const char* text, size_t length)
{
    if (starts_with(text, length, "#"))
        return character_reference_length(text, length);
    for (const char* entity : entities) {
        if (starts_with(text, length, entity))
            return strlen(entity);
    }
    return 0;
}

// The length of what may stand in an attribute's value, and on one line, at the beginning of the text.
size_t value_character_length(const char* text, size_t length)
{
    if (*text == '<')
        return 0;
    if (*text == '&') {
        const size_t reference = reference_length(text + 1, length - 1);
        return reference == 0 ? 0 : 1 + reference;
    }
    const Character character = character_at(text, length);
    const bool is_good = any_character.has(character.code) && (*text == ' ' || !is_space(*text));
    return is_good ? character.bytes : 0;
}

} // namespace

bool is_xml_name(const char* name)
{
    const size_t length = strlen(name);
    return length > 0 && name_length(name, length) == length;
}

struct XmlAttributes::Attribute {
    const char* name;
    size_t name_length;
    const char* value; // with its quotes
    size_t value_length;

    const char* end() const { return value + value_length; }

    // False if no attribute begins here.
    bool parse(const char* text, size_t length)
    {
        name = text;
        name_length = hdtrace::name_length(text, length);
        size_t at = skip_spaces(text, name_length, length);
        if (name_length == 0 || at == length || text[at] != '=')
            return false;
        at = skip_spaces(text, at + 1, length);
        if (at == length || (text[at] != '\'' && text[at] != '"'))
            return false;
        value = text + at;
        for (++at; at < length && text[at] != *value;) {
            const size_t bytes = value_character_length(text + at, length - at);
            if (bytes == 0)
                return false;
            at += bytes;
        }
        value_length = static_cast<size_t>(text + at + 1 - value);
        return at < length;
    }

    static size_t skip_spaces(const char* text, size_t at, size_t length)
    {
        while (at < length && is_space(text[at]))
            ++at;
        return at;
    }
};

int XmlAttributes::add(const char* name, const char* value)
{
    if (!is_xml_name(name))
        return HD_ERR_INVALID_ARGUMENT;
    if (const int error = check_name(name, strlen(name)))
        return error;
    const size_t size = m_text.size();
    m_text.text(" ").string(name).text("='").xml_escaped(value).text("'");
    if (!m_text.bad())
        return 0;
    m_text.truncate(size);
    return ENOMEM;
}

int XmlAttributes::add_xml(const char* xml, size_t size)
{
    const size_t size_before = m_text.size();
    size_t at = Attribute::skip_spaces(xml, 0, size);
    while (at < size) {
        Attribute attribute;
        const int error = attribute.parse(xml + at, size - at) ? add_parsed(attribute) : HD_ERR_NOT_XML;
        const size_t end = error == 0 ? static_cast<size_t>(attribute.end() - xml) : 0;
        at = Attribute::skip_spaces(xml, end, size);
        const bool is_separated = at > end || at == size;
        if (error != 0 || !is_separated) {
            m_text.truncate(size_before);
            return error != 0 ? error : HD_ERR_NOT_XML;
        }
    }
    return 0;
}

int XmlAttributes::add_parsed(const Attribute& attribute)
{
    if (const int error = check_name(attribute.name, attribute.name_length))
        return error;
    m_text.text(" ").bytes(attribute.name, attribute.name_length);
    m_text.text("=").bytes(attribute.value, attribute.value_length);
    return m_text.bad() ? ENOMEM : 0;
}

int XmlAttributes::check_name(const char* name, size_t length) const
{
    for (const char* reserved : {"time", "end"}) {
        if (length == strlen(reserved) && memcmp(name, reserved, length) == 0)
            return HD_ERR_NOT_XML;
    }
    return has(name, length) ? HD_ERR_NOT_XML : 0;
}

bool XmlAttributes::has(const char* name, size_t length) const
{
    const char* const end = m_text.data() + m_text.size();
    Attribute attribute;
    const char* at = m_text.data();
    for (; at < end && attribute.parse(at + 1, static_cast<size_t>(end - at - 1)); at = attribute.end()) {
        if (attribute.name_length == length && memcmp(attribute.name, name, length) == 0)
            return true;
    }
    return false;
}

} // namespace hdtrace
