#include "hdtrace/reader/trc_reader.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <new>
#include <ranges>

#include "hdtrace/reader/cut_off.h"
#include "hdtrace/reader/file.h"
#include "hdtrace/reader/nanoseconds.h"
#include "hdtrace/reader/xml_reader.h"

namespace hdtrace {

using detail::Node;

namespace {

std::optional<int> parse_int(std::string_view text)
{
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        return {};
    return number;
}

struct Owner {
    std::optional<int> rank;
    std::optional<int> thread;
};

/* Whose trace `<base>_<host>_<rank>_<thread>.trc` is; base and host of older traces may contain '_'. */
Owner owner_by_name(const std::string& path)
{
    const std::string stem = std::filesystem::path(path).stem().string();
    std::vector<std::string_view> parts;
    for (const auto part : std::views::split(std::string_view(stem), '_'))
        parts.emplace_back(part.begin(), part.end());
    if (parts.size() < 4)
        return {};
    const Owner owner{parse_int(parts.end()[-2]), parse_int(parts.end()[-1])};
    return owner.rank && owner.thread ? owner : Owner();
}

std::optional<std::string> take(std::vector<Attribute>& attributes, std::string_view name)
{
    const auto found = std::ranges::find(attributes, name, &Attribute::name);
    if (found == attributes.end())
        return {};
    std::string value = std::move(found->value);
    attributes.erase(found);
    return value;
}

} // namespace

bool State::is_unfinished() const
{
    const std::string* value = find("unfinished");
    return value && *value == "1";
}

struct TrcReader::Reading {
    explicit Reading(const std::string& path) : lines(path, "</Program>"), xml(path, lines) {}

    void read_root();
    bool read_top_level(State& state);
    /** The next state of the element that we are in; false at the element's end. */
    bool read_next_sibling(State& state);
    void read_nested(std::vector<State>& states);
    void read_state(State& state);
    void read_children(std::vector<Element>& children);
    std::int64_t take_time(State& state, std::string_view name);
    /** Behind the root, where nothing may follow. */
    void finish();
    /** The data ended before the root did. */
    void give_up();
    Owner owner() const;

    detail::WholeLines lines;
    detail::XmlReader xml;
    Element root;
    std::int64_t time_adjustment = 0;
    int depth = 0;                    ///< in <Nested>
    std::int64_t unfinished_line = 0; ///< where the top-level state begins that is being read
    bool at_end = false;
    std::string missing;
    std::int64_t whole_lines = 0;
    std::optional<ReadError> failure;
};

void TrcReader::Reading::read_root()
{
    xml.next();
    root.name = xml.name();
    if (root.name != "Program")
        xml.fail("this is no trace: its root is <" + root.name + ">, not <Program>");
    xml.read_attributes(root.attributes);
    if (const std::string* seconds = root.find("timeAdjustment")) {
        const auto time = parse_time(*seconds);
        if (!time)
            xml.fail("timeAdjustment='" + *seconds + "' is not a time in seconds");
        time_adjustment = *time;
    }
    if (xml.is_empty())
        finish();
}

bool TrcReader::Reading::read_top_level(State& state)
{
    unfinished_line = 0;
    if (read_next_sibling(state))
        return true;
    finish();
    return false;
}

bool TrcReader::Reading::read_next_sibling(State& state)
{
    state.nested.clear();
    std::int64_t nested_line = 0;
    while (true) {
        const Node node = xml.next();
        if (node == Node::text)
            xml.fail("text between the states");
        if (node != Node::element)
            break;
        if (depth == 0 && unfinished_line == 0)
            unfinished_line = xml.line();
        if (xml.name() != "Nested") {
            read_state(state);
            return true;
        }
        nested_line = xml.line();
        read_nested(state.nested);
    }
    if (!state.nested.empty())
        throw ReadError(xml.file(), nested_line, 0,
                        "no state follows <Nested>, which stands before its owner");
    return false;
}

void TrcReader::Reading::read_nested(std::vector<State>& states)
{
    if (xml.is_empty())
        return;
    ++depth;
    State state;
    while (read_next_sibling(state))
        states.push_back(std::move(state));
    --depth;
}

void TrcReader::Reading::read_state(State& state)
{
    state.name = xml.name();
    state.line = xml.line();
    state.is_event = state.name == "Event";
    xml.read_attributes(state.attributes);
    state.time = take_time(state, "time");
    state.end = state.is_event ? state.time : take_time(state, "end");
    read_children(state.children);
}

void TrcReader::Reading::read_children(std::vector<Element>& children)
{
    children.clear();
    if (xml.is_empty())
        return;
    for (Node node = xml.next(); node != Node::element_end; node = xml.next()) {
        if (node != Node::element)
            continue;
        Element& child = children.emplace_back();
        child.name = xml.name();
        xml.read_attributes(child.attributes);
        xml.skip();
    }
}

std::int64_t TrcReader::Reading::take_time(State& state, std::string_view name)
{
    const auto seconds = take(state.attributes, name);
    if (!seconds)
        xml.fail("<" + state.name + "> has no attribute " + std::string(name));
    const auto relative = parse_time(*seconds);
    std::int64_t time = 0;
    if (!relative || __builtin_add_overflow(*relative, time_adjustment, &time))
        xml.fail(std::string(name) + "='" + *seconds +
                 "' is not a time in seconds with at most nine decimals");
    return time;
}

void TrcReader::Reading::finish()
{
    xml.next();
    at_end = true;
}

void TrcReader::Reading::give_up()
{
    at_end = true;
    missing = detail::missing_end(lines, xml, !root.name.empty());
    if (!root.name.empty())
        whole_lines = unfinished_line > 0 ? unfinished_line - 1 : xml.lines_read();
}

Owner TrcReader::Reading::owner() const
{
    const std::string* rank = root.find("rank");
    const std::string* thread = root.find("thread");
    return rank && thread ? Owner{parse_int(*rank), parse_int(*thread)} : owner_by_name(xml.file());
}

TrcReader::TrcReader(const std::string& path) : m_reading(std::make_unique<Reading>(path))
{
    try {
        m_reading->read_root();
    } catch (const detail::EndOfData&) {
        m_reading->give_up();
    }
}

TrcReader::~TrcReader() = default;
TrcReader::TrcReader(TrcReader&&) noexcept = default;
TrcReader& TrcReader::operator=(TrcReader&&) noexcept = default;

const std::vector<Attribute>& TrcReader::attributes() const
{
    return m_reading->root.attributes;
}

std::int64_t TrcReader::time_adjustment() const
{
    return m_reading->time_adjustment;
}

std::optional<int> TrcReader::rank() const
{
    return m_reading->owner().rank;
}

std::optional<int> TrcReader::thread() const
{
    return m_reading->owner().thread;
}

bool TrcReader::next(State& state)
{
    if (m_reading->failure)
        throw *m_reading->failure;
    if (m_reading->at_end)
        return false;
    try {
        return m_reading->read_top_level(state);
    } catch (const detail::EndOfData&) {
        m_reading->give_up();
        return false;
    } catch (const std::bad_alloc&) {
        state = {};
        m_reading->failure = ReadError(m_reading->xml.file(), m_reading->unfinished_line, 0,
                                       "there is not enough memory for this state");
        throw *m_reading->failure;
    } catch (const ReadError& error) {
        m_reading->failure = error;
        throw;
    }
}

bool TrcReader::complete() const
{
    return m_reading->at_end && m_reading->missing.empty();
}

const std::string& TrcReader::missing() const
{
    return m_reading->missing;
}

std::int64_t TrcReader::whole_lines() const
{
    return m_reading->whole_lines;
}

} // namespace hdtrace
