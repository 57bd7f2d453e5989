#include "merger/export/piosimhd/trace_copy.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace hdtrace::exporter::piosimhd {

namespace {

using Kind = Command::Kind;

constexpr const char* exact = nullptr;
constexpr const char* only_shown =
    "calls that the simulator could not bring to their end: shown as Skipped_…, computation for it";
constexpr const char* computed = "calls that the simulator does not know: computation for it";
constexpr const char* as_another = "calls as others that the simulator knows and that do the same";

void set(Element& element, std::string_view name, std::string_view value)
{
    if (const auto found = element.attributes.find_exactly(name))
        element.attributes.set_value(*found, value);
    else
        element.attributes.push_back(name, value);
}

void set(Element& element, std::string_view name, std::int64_t value)
{
    set(element, name, std::string_view(std::to_string(value)));
}

/// Older traces have other names for attributes. A call with `aid` would be asynchronous for the simulator.
void use_current_names(Element& element)
{
    for (const AttributeName& name :
         {AttributeName("fid"), AttributeName("cid"), AttributeName("tid"), AttributeName("rid"),
          AttributeName("etid"), AttributeName("filetid"), AttributeName("rootRank")}) {
        const auto value = element.attributes.find_exactly(name) ? std::nullopt : element.find(name);
        if (value)
            element.attributes.push_back(name.text(), std::string(*value));
    }
    if (const auto asynchronous = element.attributes.find_exactly("aid"))
        element.attributes.erase(*asynchronous);
}

void append_escaped(std::string& text, std::string_view value)
{
    static constexpr std::pair<char, std::string_view> escapes[] = {
        {'&', "&amp;"},  {'<', "&lt;"},   {'>', "&gt;"}, {'\'', "&apos;"},
        {'\n', "&#10;"}, {'\r', "&#13;"}, {'\t', "&#9;"}};
    for (const char c : value) {
        const auto escape = std::ranges::find(escapes, c, &std::pair<char, std::string_view>::first);
        if (escape == std::end(escapes))
            text += c;
        else
            text += escape->second;
    }
}

/// "For rid=1;For rid=2;"
std::string words_of(const std::vector<Element>& children)
{
    std::string text;
    for (const Element& child : children) {
        text += child.name;
        for (const Attribute& attribute : child.attributes)
            text += " " + std::string(attribute.name) + "=" + std::string(attribute.value);
        text += ";";
    }
    return text;
}

/// The newer reader gives the calls inside a state to the state's first child element, and loses them.
/// Returns whether there were any.
bool fold(State& state)
{
    bool has_folded = false;
    for (State& nested : state.nested)
        has_folded = fold(nested) || has_folded;
    const bool is_folded = !state.children.empty() && (!state.nested.empty() || state.is_event);
    if (is_folded) {
        set(state, "elements", words_of(state.children));
        state.children.clear();
    }
    if (state.is_event && state.text("name").size() < 2) // which they refuse
        set(state, "name", state.text("name") + "__");
    return has_folded || is_folded;
}

bool is_collective_of_bytes(const Command& command)
{
    return (command.kind == Kind::collective || command.kind == Kind::rooted) && command.name != "Barrier";
}

} // namespace

TraceCopy::TraceCopy(const CopyContext& context, const Leaf& leaf, TextOutput& output)
    : m_context(context), m_leaf(leaf), m_output(output)
{
}

void TraceCopy::write()
{
    m_output.text("<?xml version='1.0' encoding='UTF-8'?>\n<Program timeAdjustment='")
        .number(m_context.base_second)
        .text("' version='1' rank='")
        .number(m_leaf.trace.rank)
        .text("' thread='")
        .number(m_leaf.trace.thread)
        .text("'>\n");
    if (m_leaf.exists) {
        Selection all;
        all.unfinished = true;
        TraceStream stream(m_leaf.trace, all);
        State state;
        while (stream.next(state))
            write_state(state);
    }
    m_output.text("</Program>\n").flush();
}

void TraceCopy::write_state(State& state)
{
    ++m_number;
    const char* how = adapt(state);
    if (fold(state) && how == exact)
        how = state.is_event ? "moments whose elements are in the attribute `elements`"
                             : "calls with others inside, whose elements are in the attribute `elements`";
    if (how == exact)
        m_context.account.exact();
    else
        m_context.account.approximated(how);
    write_xml(state);
    m_output.text("\n");
}

/// Says what is not as it was.
const char* TraceCopy::adapt(State& state)
{
    if (state.is_event)
        return state.text("name").size() < 2 ? "moments with a name of one letter: with a longer one" : exact;
    const Command* const command = find_command(state.name);
    if (command != nullptr) {
        use_current_names(state);
        const std::string name = state.name;
        const char* const how =
            state.is_unfinished() || state.has("rc") ? only_shown : adapt_command(state, *command);
        if (how == only_shown && is_command(name))
            state.name = "Skipped_" + name;
        if (how == only_shown || name == state.name)
            return how;
        return how == exact ? as_another : how;
    }
    const CallFacts& facts = facts_of(state.name);
    const bool takes_time = facts.progress != CallProgress::local && facts.progress != CallProgress::asks &&
                            facts.progress != CallProgress::query;
    const bool is_call = facts.call_class != CallClass::other;
    return is_call && (takes_time || facts.call_class == CallClass::file) ? computed : exact;
}

const char* TraceCopy::adapt_command(State& state, const Command& command)
{
    const TraceFile& trace = m_leaf.trace;
    const Simulated& simulated = m_context.simulated;
    switch (command.kind) {
    case Kind::synchronization:
        if (!(command.name == "Init" ? simulated.inits() : simulated.finalizes()))
            return only_shown;
        break;
    case Kind::send:
        if (!simulated.sends(trace, m_number))
            return only_shown;
        break;
    case Kind::receive:
        if (!simulated.receives(trace, m_number))
            return only_shown;
        break;
    case Kind::exchange:
        return adapt_exchange(state);
    case Kind::collective:
    case Kind::rooted:
        if (!simulated.joins(trace, m_number))
            return only_shown;
        break;
    case Kind::wait:
        return exact;
    default:
        return adapt_file_call(state, command);
    }
    state.name = command.name;
    if (is_collective_of_bytes(command) && state.integer("size").value_or(0) <= 0) {
        set(state, "size", 1);
        return "collective operations without data: with one byte";
    }
    return exact;
}

/// One side of it may be none: at the edge of the program's grid, or where a non-blocking call is the
/// partner.
const char* TraceCopy::adapt_exchange(State& state)
{
    const bool sends = m_context.simulated.sends(m_leaf.trace, m_number);
    const bool receives = m_context.simulated.receives(m_leaf.trace, m_number);
    if (!sends && !receives)
        return only_shown;
    state.name = sends && receives ? "Sendrecv" : sends ? "Send" : "Recv";
    return sends && receives ? exact : "calls of Sendrecv: only that side which the simulator can do";
}

const char* TraceCopy::adapt_file_call(State& state, const Command& command)
{
    const bool is_by_all = command.kind == Kind::open || command.kind == Kind::close ||
                           command.kind == Kind::access_by_all || command.kind == Kind::view;
    if (is_by_all && !m_context.simulated.joins(m_leaf.trace, m_number))
        return only_shown;
    const std::int64_t fid = state.integer("fid").value_or(-1);
    const ProjectFile* const file = m_context.objects.file(m_leaf.trace.rank, state);
    if (file == nullptr)
        return only_shown;
    if (command.kind == Kind::open) {
        ++m_open[fid];
        const std::string& name = m_context.contents.name_of(*file);
        const bool is_same = state.text("name") == name;
        set(state, "name", name);
        return is_same ? exact : "files opened: by the name that the project gives the file";
    }
    const auto open = m_open.find(fid);
    if (open == m_open.end())
        return only_shown;
    if (command.kind == Kind::close) {
        m_open.erase(open);
        return exact;
    }
    if (command.kind == Kind::view) {
        const std::int64_t offset = state.integer("offset").value_or(-1);
        const bool fits = offset >= 0 && offset <= std::numeric_limits<std::int32_t>::max();
        const bool has_types = m_context.objects.datatype(m_leaf.trace.rank, state, "etid") != nullptr &&
                               m_context.objects.datatype(m_leaf.trace.rank, state, "filetid") != nullptr;
        return fits && has_types ? exact : only_shown;
    }
    if (state.integer("offset").value_or(-1) < 0 || state.integer("size").value_or(-1) < 0)
        return only_shown;
    state.name = command.name;
    return exact;
}

void TraceCopy::write_xml(const State& state)
{
    if (!state.nested.empty()) {
        m_output.text("<Nested>");
        for (const State& nested : state.nested)
            write_xml(nested);
        m_output.text("</Nested>");
    }
    m_output.text("<").text(state.name);
    write_attributes(state);
    write_time("time", state.time);
    if (!state.is_event)
        write_time("end", state.end);
    if (state.children.empty()) {
        m_output.text(" />");
        return;
    }
    m_output.text(" >");
    for (const Element& child : state.children) {
        m_output.text("<").text(child.name);
        write_attributes(child);
        m_output.text(" />");
    }
    m_output.text("</").text(state.name).text(">");
}

void TraceCopy::write_attributes(const Element& element)
{
    std::string text;
    for (const Attribute& attribute : element.attributes) {
        text += " ";
        text += attribute.name;
        text += "='";
        append_escaped(text, attribute.value);
        text += "'";
    }
    m_output.text(text);
}

void TraceCopy::write_time(const char* name, std::int64_t time)
{
    constexpr std::int64_t second = 1'000'000'000;
    m_output.text(" ").text(name).text("='").seconds(time - m_context.base_second * second).text("'");
}

} // namespace hdtrace::exporter::piosimhd
