// proj_xml.h - what all sections of a .proj are read with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hdtrace/format/element.h"
#include "hdtrace/format/xml_reader.h"

namespace hdtrace::detail {

Element read_element(XmlReader& xml);

/// Calls handle(element) for each child of the current element; it has to go to the child's end.
template <class Handle> void for_each_child(XmlReader& xml, Handle handle)
{
    if (xml.is_empty())
        return;
    for (Node node = xml.next(); node != Node::element_end; node = xml.next())
        if (node == Node::element)
            handle(read_element(xml));
}

/// The text of the current element.
std::string read_text(XmlReader& xml);

/// Those that are no numbers, and missing ones unless they are optional, are errors.
std::int64_t parse_number(const XmlReader& xml, const std::string& text);
std::optional<std::int64_t> optional_number(const XmlReader& xml, const Element& element,
                                            std::string_view name);
std::int64_t number(const XmlReader& xml, const Element& element, std::string_view name);

struct NumberRange {
    std::int64_t first = 0;
    std::int64_t last = 0;
};

/// Takes a number that @p end follows from the beginning of @p text.
std::int64_t take_integer(const XmlReader& xml, std::string_view& text, std::string_view end);
/// The same; negative ones are errors.
std::int64_t take_number(const XmlReader& xml, std::string_view& text, std::string_view end);
using Take = decltype(take_number)&;
/// Takes `7` or `7..9` and what follows.
NumberRange take_range(const XmlReader& xml, std::string_view& text, std::string_view end,
                       Take take = take_number);

} // namespace hdtrace::detail
