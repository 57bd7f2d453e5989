// Constant texts whose content is part of their type: so that several become one when a program is compiled.
#pragma once

#include "hdtrace/compact_form.h"

#include <stddef.h>
#include <stdint.h>

namespace hdtrace {

template <size_t Size> struct FixedText {
    char text[Size];
    static constexpr size_t length = Size - 1;

    constexpr FixedText(const char (&literal)[Size]) // NOLINT(google-explicit-constructor): it is one
    {
        for (size_t i = 0; i < Size; ++i)
            text[i] = literal[i];
    }
};

template <FixedText Text> struct XmlText {
};

/// A piece of XML: " count='"_xml
template <FixedText Text> constexpr XmlText<Text> operator""_xml()
{
    return {};
}

namespace detail {

template <typename Part> struct MarkedPart { // a number
    static constexpr size_t length = 1;
    static constexpr int values = 1;
    static constexpr char* put(char* out)
    {
        *out = compact_mark::number;
        return out + 1;
    }
};

template <FixedText Text> struct MarkedPart<XmlText<Text>> {
    static constexpr size_t length = Text.length;
    static constexpr int values = 0;
    static constexpr char* put(char* out)
    {
        for (size_t i = 0; i < length; ++i)
            *out++ = Text.text[i];
        return out;
    }
};

template <typename... Parts> struct MarkedText {
    static constexpr int values = (MarkedPart<Parts>::values + ...);
    char text[(MarkedPart<Parts>::length + ...) + 1] = {};

    constexpr MarkedText()
    {
        char* out = text;
        ((out = MarkedPart<Parts>::put(out)), ...);
    }
};

} // namespace detail

/// Parts behind each other, with marks (compact_form.h) in place of numbers.
template <typename... Parts> inline constexpr detail::MarkedText<Parts...> marked_text;

} // namespace hdtrace
