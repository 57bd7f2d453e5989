#include "hdtrace/analysis/call_text.h"

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

#include "hdtrace/calls/calls.h"
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

void append_times(std::string& text, const State& state, std::int64_t origin)
{
    text += " time='" + seconds(saturated_distance(state.time, origin)) + "'";
    if (!state.is_event)
        text += " end='" + seconds(saturated_distance(state.end, origin)) + "'";
}

void append_xml(std::string& text, const State& state, const std::string& owner, std::int64_t origin)
{
    if (!state.nested.empty()) {
        text += "<Nested>";
        for (const State& nested : state.nested)
            append_xml(text, nested, {}, origin);
        text += "</Nested>";
    }
    text += "<" + state.name;
    append_attributes(text, state);
    text += owner;
    append_times(text, state, origin);
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

/// What a number of a process's object is called; empty if the project does not tell.
class ObjectNames {
  public:
    ObjectNames(const OpenedProject& project, std::int64_t rank) : m_project(&project), m_rank(rank) {}
    /// Knows none.
    ObjectNames() = default;

    std::string operator()(std::string_view attribute, std::optional<std::int64_t> id) const
    {
        const auto kind = m_project && id ? find_reference(attribute) : std::nullopt;
        if (!kind)
            return {};
        const ObjectTable& objects = m_project->objects;
        switch (*kind) {
        case ObjectKind::communicator:
            return label_in(m_project->project.communicators, m_project->communicator_labels,
                            objects.communicator(m_rank, *id));
        case ObjectKind::file:
            return label_in(m_project->project.files, m_project->file_labels, objects.file(m_rank, *id));
        case ObjectKind::window:
            return label_in(m_project->project.windows, m_project->window_labels,
                            objects.window(m_rank, *id));
        case ObjectKind::datatype:
            return name_of(objects.datatype(m_rank, *id));
        default:
            return {};
        }
    }

  private:
    template <class Object>
    static std::string label_in(const std::vector<Object>& list, const std::vector<std::string>& labels,
                                const Object* object)
    {
        return object ? labels[position_in(list, *object)] : std::string();
    }
    // Only predefined types have a name of their own.
    static std::string name_of(const Datatype* type)
    {
        if (!type)
            return {};
        const auto name = type->attributes.value("name");
        return name && !name->empty() ? std::string(*name)
                                      : std::to_string(type->id) + "(" + type->combiner + ")";
    }

    const OpenedProject* m_project = nullptr;
    std::int64_t m_rank = -1;
};

enum class Lists : std::uint8_t { whole, in_brief };

/// Of a list, "0;4..7;", the beginning, "0;4..7"; any other value as it is.
std::string list_in_brief(std::string_view value)
{
    constexpr std::size_t longest = 60;
    if (!value.ends_with(';') || value.find_first_not_of("-0123456789.,;") != std::string_view::npos)
        return std::string(value);
    value.remove_suffix(1);
    if (value.size() <= longest)
        return std::string(value);
    return std::string(value.substr(0, value.rfind(';', longest))) + ";...";
}

/// For people, who read a call in one line.
void append_in_line(std::string& text, std::string_view value)
{
    for (const char c : value) {
        if (c == '\n')
            text += "\\n";
        else
            text += c;
    }
}

void append_words(std::string& text, const Element& element, const ObjectNames& names = {},
                  std::initializer_list<std::string_view> left_out = {}, Lists lists = Lists::whole)
{
    for (std::size_t i = 0; i < element.attributes.size(); ++i) {
        const Attribute attribute = element.attributes[i];
        if (std::ranges::find(left_out, attribute.name) != left_out.end() ||
            (lists == Lists::in_brief && is_for_checks(attribute.name)))
            continue;
        const std::string name = names(attribute.name, element.attributes.number(i));
        text += ' ';
        text += attribute.name;
        text += '=';
        append_in_line(text, !name.empty()              ? name
                             : lists == Lists::in_brief ? list_in_brief(attribute.value)
                                                        : std::string(attribute.value));
    }
}

void append_child(std::string& text, const Element& child, const ObjectNames& names = {})
{
    text += " (" + child.name;
    append_words(text, child, names);
    text += ")";
}

// "begin solve", "count residual value=0.5"; others are marks.
void append_event(std::string& text, const State& event, std::string_view left_out)
{
    const auto kind = event.find("kind");
    const auto name = event.find("name");
    append_in_line(text, kind ? *kind : "mark");
    text += " ";
    append_in_line(text, name ? *name : "");
    append_words(text, event, {}, {"name", "kind", left_out});
}

// What all lines of a state have in common.
struct Lines {
    const OpenedProject& project;
    std::int64_t rank;
    std::string owner;
    std::int64_t origin;
};

void append_lines(std::string& text, const Lines& lines, const State& state, int depth)
{
    const ObjectNames names(lines.project, lines.rank);
    const CallSite* const site = lines.project.objects.call_site(lines.rank, state);
    for (const State& nested : state.nested)
        append_lines(text, lines, nested, depth + 1);
    text += seconds(saturated_distance(state.time, lines.origin)) + " " +
            seconds(saturated_distance(state.end, state.time)) + " " + lines.owner + " ";
    text += std::string(2 * depth, ' ');
    const std::string_view told_as_place = site ? "site" : "";
    if (state.is_event) {
        append_event(text, state, told_as_place);
    } else {
        text += state.name;
        append_words(text, state, names, {told_as_place});
    }
    for (const Element& child : state.children)
        append_child(text, child, names);
    if (site) {
        text += " at ";
        append_in_line(text, to_string(*site));
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

bool is_for_checks(std::string_view attribute)
{
    static constexpr std::string_view names[] = {"handle", "reads",    "writes",   "window",
                                                 "frames", "objects",  "pointers", "changed",
                                                 "used",   "pollTime", "threadCpu"};
    return std::ranges::find(names, attribute) != std::end(names);
}

std::string xml_line(const TraceFile& trace, const State& state)
{
    std::string text;
    append_xml(text, state, owner_attributes(trace), 0);
    return text + "\n";
}

std::string trace_line(const State& state, std::int64_t time_adjustment)
{
    std::string text;
    append_xml(text, state, {}, time_adjustment);
    return text + "\n";
}

std::string opening_tag(const Element& element)
{
    std::string text = "<" + element.name;
    append_attributes(text, element);
    return text + ">";
}

std::string call_words(const OpenedProject& project, std::int64_t rank, const State& state)
{
    constexpr std::size_t most_children = 5;
    std::string text = state.name;
    append_words(text, state, ObjectNames(project, rank), {"site", "unfinished", "wtime"}, Lists::in_brief);
    const std::size_t count = std::min(most_children, state.children.size());
    for (const Element& child : std::span(state.children).first(count))
        append_child(text, child);
    if (count < state.children.size())
        text += " and " + std::to_string(state.children.size() - count) + " more";
    return text;
}

std::string text_lines(const OpenedProject& project, const TraceFile& trace, const State& state,
                       std::int64_t origin)
{
    std::string text;
    append_lines(text, {project, trace.rank, owner_name(trace), origin}, state, 0);
    return text;
}

std::string object_label(const OpenedProject& project, std::int64_t rank, std::string_view attribute,
                         std::int64_t number)
{
    return ObjectNames(project, rank)(attribute, number);
}

std::string name_of_end(const std::string& started, const State& end)
{
    constexpr std::string_view begin = "_begin";
    return started.ends_with(begin) ? started.substr(0, started.size() - begin.size()) + "_end" : end.name;
}

std::string at(const CallSite* site)
{
    return site ? " at " + to_string(*site) : std::string();
}

} // namespace hdtrace
