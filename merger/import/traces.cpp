#include "merger/import/traces.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <stdexcept>
#include <utility>

#include "hdtrace/format/nanoseconds.h"
#include "hdtrace/writer/text.h"
#include "merger/trace_name.h"

namespace hdtrace::importer {

namespace {

constexpr std::size_t enough_to_write = 64 * 1024;

/// Hosts that are not known must have a label, too.
std::string host_label(const std::string& host)
{
    return host.empty() ? "unknown" : merger::file_label(host);
}

void check_name(std::string_view name)
{
    const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0 || c == '_'; };
    const auto may_follow = [&](unsigned char c) {
        return is_letter(c) || std::isdigit(c) != 0 || c == '-' || c == '.';
    };
    if (name.empty() || !is_letter(name.front()) || !std::ranges::all_of(name, may_follow))
        throw std::invalid_argument("'" + std::string(name) + "' is no name of a state or an attribute");
}

} // namespace

Traces::Traces(const exporter::OutputDirectory& directory, std::string program, std::string file_base)
    : m_directory(directory), m_program(std::move(program)), m_file_base(std::move(file_base))
{
}

void Traces::set_origin(std::string_view format, std::string_view creator, std::string_view times,
                        std::string_view lacks)
{
    InfoText line("Origin");
    line.text("format", format);
    if (!creator.empty())
        line.text("creator", creator);
    if (!times.empty())
        line.text("times", times);
    if (!lacks.empty())
        line.text("lacks", lacks);
    m_origin = line.line();
}

InfoText& InfoText::number(std::string_view key, std::int64_t value)
{
    m_text += " " + std::string(key) + "=" + std::to_string(value);
    return *this;
}

InfoText& InfoText::text(std::string_view key, std::string_view value)
{
    m_text += " " + std::string(key) + "='";
    const std::size_t begin = m_text.size();
    m_text.resize(begin + value.size() * max_escape_length);
    char* const out = m_text.data() + begin;
    m_text.resize(begin + static_cast<std::size_t>(put_info_escaped(out, value.data(), value.size()) - out));
    m_text += "'";
    return *this;
}

// --- processes ---

ProcessTrace::ProcessTrace(Traces& traces, Facts facts)
    : m_traces(traces), m_facts(std::move(facts)), m_file(traces.directory(), file_name(0, ".info"), false)
{
    ++traces.m_processes;
    write(InfoText("Process")
              .text("base", traces.program())
              .text("host", m_facts.host.empty() ? "unknown" : m_facts.host)
              .number("rank", m_facts.rank)
              .number("size", m_facts.size)
              .number("thread", 0)
              .number("version", 1)
              .number("timeAdjustment", m_facts.base)
              .text("world", "W"));
    if (!traces.origin().empty())
        m_pending += traces.origin() + "\n";
}

std::string ProcessTrace::file_name(std::int64_t thread, std::string_view extension) const
{
    return m_traces.file_base() + "_" + host_label(m_facts.host) + "_" + std::to_string(m_facts.rank) + "_" +
           std::to_string(thread) + std::string(extension);
}

void ProcessTrace::write(const InfoText& line)
{
    m_pending += line.line() + "\n";
    if (m_pending.size() < enough_to_write)
        return;
    m_file.write(m_pending);
    m_pending.clear();
}

void ProcessTrace::write_world()
{
    const std::string last = std::to_string(m_facts.size - 1);
    const std::string map = m_facts.size == 1 ? "0->0;" : "0.." + last + "->0.." + last + ";";
    write(InfoText("Comm").text("map", map).number("id", 0).text("name", "WORLD").text("uid", "W"));
}

void ProcessTrace::write_named_type(std::int64_t id, std::string_view name, std::int64_t size)
{
    write(InfoText("Type")
              .text("id", std::to_string(id))
              .text("combiner", "MPI_COMBINER_NAMED")
              .text("name", name)
              .number("size", size)
              .number("lb", 0)
              .number("extent", size));
}

void ProcessTrace::close()
{
    m_file.write(m_pending);
    m_pending.clear();
}

// --- threads ---

ThreadTrace::ThreadTrace(ProcessTrace& process, std::int64_t thread)
    : m_process(process), m_thread(thread), m_base(process.facts().base * nanoseconds_per_second),
      m_last_end(m_base), m_file(process.m_traces.directory(), process.file_name(thread, ".trc"), false)
{
    if (thread != 0)
        process.write(InfoText("Thread").number("number", thread));
    m_pending = "<?xml version='1.0' encoding='UTF-8'?>\n<Program timeAdjustment='" +
                std::to_string(process.facts().base) + "' version='1' rank='" +
                std::to_string(process.facts().rank) + "' thread='" + std::to_string(thread) + "'>\n";
}

void ThreadTrace::write(const State& state)
{
    if (state.end < m_last_end)
        throw std::invalid_argument("times are not in their order");
    append(state);
    m_pending += '\n';
    m_last_end = state.end;
    if (m_pending.size() >= enough_to_write)
        flush();
}

void ThreadTrace::append(const State& state)
{
    check_name(state.name);
    if (state.time < m_base || state.end < state.time)
        throw std::invalid_argument("times are not in their order");
    m_states += state.is_event ? 0 : 1;
    if (!state.nested.empty()) {
        m_pending += "<Nested>";
        for (const State& nested : state.nested)
            append(nested);
        m_pending += "</Nested>";
    }
    m_pending += "<" + state.name;
    append_attributes(state);
    append_time("time", state.time);
    if (!state.is_event)
        append_time("end", state.end);
    m_pending += state.children.empty() ? " />" : " >";
    for (const Element& child : state.children) {
        check_name(child.name);
        m_pending += "<" + child.name;
        append_attributes(child);
        m_pending += " />";
    }
    if (!state.children.empty())
        m_pending += "</" + state.name + ">";
}

void ThreadTrace::append_attributes(const Element& element)
{
    for (const Attribute& attribute : element.attributes) {
        check_name(attribute.name);
        m_pending += " " + std::string(attribute.name) + "='";
        const std::size_t begin = m_pending.size();
        m_pending.resize(begin + attribute.value.size() * max_escape_length);
        char* const out = m_pending.data() + begin;
        const char* const end = put_xml_escaped(out, attribute.value.data(), attribute.value.size());
        m_pending.resize(begin + static_cast<std::size_t>(end - out));
        m_pending += "'";
    }
}

void ThreadTrace::append_time(std::string_view name, std::int64_t time)
{
    char text[64];
    char* const end = put_seconds(text, time - m_base);
    m_pending += " " + std::string(name) + "='" + std::string(+text, end) + "'";
}

void ThreadTrace::flush()
{
    m_file.write(m_pending);
    m_pending.clear();
}

void ThreadTrace::close(std::int64_t dropped)
{
    m_pending += "</Program>\n";
    flush();
    m_process.write(
        InfoText("End").number("thread", m_thread).number("states", m_states).number("dropped", dropped));
}

} // namespace hdtrace::importer
