#include "hdtrace/analysis/call_text.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <initializer_list>
#include <span>
#include <string_view>

#include "hdtrace/matching/saturated.h"

namespace hdtrace {
namespace {

void append_escaped(std::string& text, std::string_view value)
{
    for (const char c : value) {
        switch (c) {
        case '&':
            text += "&amp;";
            break;
        case '<':
            text += "&lt;";
            break;
        case '>':
            text += "&gt;";
            break;
        case '\'':
            text += "&apos;";
            break;
        case '\n':
            text += "&#10;";
            break;
        case '\r':
            text += "&#13;";
            break;
        case '\t':
            text += "&#9;";
            break;
        default:
            text += c;
        }
    }
}

void append_attributes(std::string& text, const Element& element)
{
    for (const Attribute& attribute : element.attributes) {
        text += ' ';
        text += attribute.name;
        text += "='";
        append_escaped(text, attribute.value);
        text += "'";
    }
}

std::string seconds(std::int64_t nanoseconds)
{
    constexpr std::int64_t second = 1'000'000'000;
    const std::uint64_t size = nanoseconds < 0 ? -static_cast<std::uint64_t>(nanoseconds) : nanoseconds;
    char text[32];
    std::snprintf(text, sizeof text, "%s%" PRIu64 ".%09" PRIu64, nanoseconds < 0 ? "-" : "", size / second,
                  size % second);
    return text;
}

void append_times(std::string& text, const State& state)
{
    text += " time='" + seconds(state.time) + "'";
    if (!state.is_event)
        text += " end='" + seconds(state.end) + "'";
}

void append_xml(std::string& text, const State& state, const std::string& owner)
{
    if (!state.nested.empty()) {
        text += "<Nested>";
        for (const State& nested : state.nested)
            append_xml(text, nested, {});
        text += "</Nested>";
    }
    text += "<" + state.name;
    append_attributes(text, state);
    text += owner;
    append_times(text, state);
    if (state.children.empty()) {
        text += " />";
        return;
    }
    text += " >";
    for (const Element& child : state.children) {
        text += "<" + child.name;
        append_attributes(text, child);
        text += " />";
    }
    text += "</" + state.name + ">";
}

void append_words(std::string& text, const Element& element,
                  std::initializer_list<std::string_view> left_out = {})
{
    for (const Attribute& attribute : element.attributes) {
        if (std::ranges::find(left_out, attribute.name) != left_out.end())
            continue;
        text += ' ';
        text += attribute.name;
        text += '=';
        append_escaped(text, attribute.value);
    }
}

void append_child(std::string& text, const Element& child)
{
    text += " (" + child.name;
    append_words(text, child);
    text += ")";
}

// "begin solve site=3", "count residual value=0.5"; others are marks.
void append_event(std::string& text, const State& event)
{
    const auto kind = event.find("kind");
    const auto name = event.find("name");
    append_escaped(text, kind ? *kind : "mark");
    text += " ";
    append_escaped(text, name ? *name : "");
    append_words(text, event, {"name", "kind"});
}

// What all lines of a state have in common.
struct Lines {
    const ObjectTable& objects;
    std::int64_t rank;
    std::string owner;
    std::int64_t origin;
};

void append_lines(std::string& text, const Lines& lines, const State& state, int depth)
{
    for (const State& nested : state.nested)
        append_lines(text, lines, nested, depth + 1);
    text += seconds(saturated_distance(state.time, lines.origin)) + " " +
            seconds(saturated_distance(state.end, state.time)) + " " + lines.owner + " ";
    text += std::string(2 * depth, ' ');
    if (state.is_event) {
        append_event(text, state);
    } else {
        text += state.name;
        append_words(text, state);
    }
    for (const Element& child : state.children)
        append_child(text, child);
    if (const CallSite* site = lines.objects.call_site(lines.rank, state)) {
        text += " at ";
        std::string place = to_string(*site);
        std::ranges::replace(place, '\n', ' ');
        text += place;
    }
    text += "\n";
}

// Programs without MPI have their own levels.
std::string owner_name(const TraceFile& trace)
{
    if (trace.rank >= 0)
        return std::to_string(trace.rank) + "." + std::to_string(trace.thread);
    std::string name;
    for (const std::string& label : trace.labels)
        name += (name.empty() ? "" : "/") + label;
    return name;
}

// Their names are those of no attribute that the tracer writes.
std::string owner_attributes(const TraceFile& trace)
{
    if (trace.rank >= 0)
        return " ofRank='" + std::to_string(trace.rank) + "' ofThread='" + std::to_string(trace.thread) + "'";
    std::string text = " of='";
    append_escaped(text, owner_name(trace));
    return text + "'";
}

} // namespace

std::string xml_line(const TraceFile& trace, const State& state)
{
    std::string text;
    append_xml(text, state, owner_attributes(trace));
    return text + "\n";
}

std::string call_words(const State& state)
{
    constexpr std::size_t most_children = 5;
    std::string text = state.name;
    append_words(text, state, {"site", "unfinished"});
    const std::size_t count = std::min(most_children, state.children.size());
    for (const Element& child : std::span(state.children).first(count))
        append_child(text, child);
    if (count < state.children.size())
        text += " and " + std::to_string(state.children.size() - count) + " more";
    return text;
}

std::string text_lines(const ObjectTable& objects, const TraceFile& trace, const State& state,
                       std::int64_t origin)
{
    std::string text;
    append_lines(text, {objects, trace.rank, owner_name(trace), origin}, state, 0);
    return text;
}

std::string at(const CallSite* site)
{
    return site ? " at " + to_string(*site) : std::string();
}

} // namespace hdtrace
