#include "hdtrace/format/xml_states.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hdtrace/format/nanoseconds.h"

namespace hdtrace::detail {
namespace {

std::optional<std::string> take(AttributeList& attributes, std::string_view name)
{
    const auto found = attributes.find_exactly(name);
    if (!found)
        return {};
    std::string value(attributes[*found].value);
    attributes.erase(*found);
    return value;
}

// The original tools also write "1240424724s".
std::optional<std::int64_t> parse_adjustment(std::string_view seconds)
{
    if (seconds.ends_with('s'))
        seconds.remove_suffix(1);
    return parse_time(seconds);
}

} // namespace

void XmlStates::read_root()
{
    m_xml.next();
    m_root.name = m_xml.name();
    if (m_root.name != "Program")
        m_xml.fail("this is no trace: its root is <" + m_root.name + ">, not <Program>");
    m_xml.read_attributes(m_root.attributes);
    m_xml.refuse_newer(m_root.attributes);
    if (const auto seconds = m_root.find("timeAdjustment")) {
        const auto time = parse_adjustment(*seconds);
        if (!time)
            m_xml.fail("timeAdjustment='" + std::string(*seconds) + "' is not a time in seconds");
        m_time_adjustment = *time;
    }
    if (m_xml.is_empty())
        finish();
}

bool XmlStates::next(State& state)
{
    m_unfinished_line = 0;
    m_xml.forget_items();
    if (m_at_end)
        return false;
    if (read_next_sibling(state))
        return true;
    finish();
    return false;
}

bool XmlStates::read_next_sibling(State& state)
{
    state.nested.clear();
    std::int64_t nested_line = 0;
    while (true) {
        const Node node = m_xml.next();
        if (node == Node::text)
            m_xml.fail("text between the states");
        if (node != Node::element)
            break;
        if (m_depth == 0 && m_unfinished_line == 0)
            m_unfinished_line = m_xml.line();
        if (m_xml.name() != "Nested") {
            read_state(state);
            return true;
        }
        nested_line = m_xml.line();
        read_nested(state.nested);
    }
    if (!state.nested.empty())
        throw ReadError(m_xml.file(), nested_line, 0,
                        "no state follows <Nested>, which stands before its owner");
    return false;
}

void XmlStates::read_nested(std::vector<State>& states)
{
    if (m_xml.is_empty())
        return;
    ++m_depth;
    State state;
    while (read_next_sibling(state))
        states.push_back(std::move(state));
    --m_depth;
}

void XmlStates::read_state(State& state)
{
    state.name = m_xml.name();
    state.line = m_xml.line();
    state.is_event = state.name == "Event";
    m_xml.read_attributes(state.attributes);
    state.time = take_time(state, "time");
    state.end = state.is_event ? state.time : take_time(state, "end");
    read_children(state.children);
}

void XmlStates::read_children(std::vector<Element>& children)
{
    children.clear();
    if (m_xml.is_empty())
        return;
    for (Node node = m_xml.next(); node != Node::element_end; node = m_xml.next()) {
        if (node != Node::element)
            continue;
        Element& child = children.emplace_back();
        child.name = m_xml.name();
        m_xml.read_attributes(child.attributes);
        m_xml.skip();
    }
}

std::int64_t XmlStates::take_time(State& state, std::string_view name)
{
    const auto seconds = take(state.attributes, name);
    if (!seconds)
        m_xml.fail("<" + state.name + "> has no attribute " + std::string(name));
    const auto relative = parse_time(*seconds);
    std::int64_t time = 0;
    if (!relative || __builtin_add_overflow(*relative, m_time_adjustment, &time))
        m_xml.fail(std::string(name) + "='" + *seconds +
                   "' is not a time in seconds with at most nine decimals");
    return time;
}

void XmlStates::finish()
{
    m_xml.next();
    m_at_end = true;
}

} // namespace hdtrace::detail
