#include "hdtrace/format/proj_xml.h"

#include <charconv>

namespace hdtrace::detail {

Element read_element(XmlReader& xml)
{
    Element element{std::string(xml.name()), {}};
    xml.read_attributes(element.attributes);
    return element;
}

std::string read_text(XmlReader& xml)
{
    std::string text;
    if (xml.is_empty())
        return text;
    for (Node node = xml.next(); node != Node::element_end; node = xml.next()) {
        if (node == Node::text)
            text += xml.text();
        else
            xml.skip();
    }
    return text;
}

std::int64_t parse_number(const XmlReader& xml, const std::string& text)
{
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        xml.fail("'" + text + "' is not a whole number");
    return number;
}

std::optional<std::int64_t> optional_number(const XmlReader& xml, const Element& element,
                                            std::string_view name)
{
    const auto value = element.find(name);
    if (!value)
        return {};
    return parse_number(xml, std::string(*value));
}

std::int64_t number(const XmlReader& xml, const Element& element, std::string_view name)
{
    const auto value = optional_number(xml, element, name);
    if (!value)
        xml.fail("<" + element.name + "> has no attribute " + std::string(name));
    return *value;
}

std::int64_t take_integer(const XmlReader& xml, std::string_view& text, std::string_view end)
{
    std::int64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view after = text.substr(rest - text.data());
    if (error != std::errc() || !after.starts_with(end))
        xml.fail("'" + std::string(text.substr(0, 60)) + "' does not begin with a number and '" +
                 std::string(end) + "'");
    text = after.substr(end.size());
    return number;
}

std::int64_t take_number(const XmlReader& xml, std::string_view& text, std::string_view end)
{
    if (text.starts_with('-'))
        xml.fail("'" + std::string(text.substr(0, 60)) + "' does not begin with a number and '" +
                 std::string(end) + "'");
    return take_integer(xml, text, end);
}

NumberRange take_range(const XmlReader& xml, std::string_view& text, std::string_view end, Take take)
{
    const bool is_range = text.substr(0, text.find(end)).find("..") != std::string_view::npos;
    const std::int64_t first = take(xml, text, is_range ? ".." : end);
    return {first, is_range ? take(xml, text, end) : first};
}

} // namespace hdtrace::detail
