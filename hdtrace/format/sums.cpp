#include "hdtrace/format/sums.h"

#include <algorithm>

#include "hdtrace/calls/calls.h"
#include "hdtrace/format/compressed.h"
#include "hdtrace/format/errors.h"
#include "hdtrace/format/file.h"
#include "hdtrace/format/nanoseconds.h"
#include "hdtrace/format/packed_file.h"
#include "hdtrace/format/proj_xml.h"
#include "hdtrace/format/region_name.h"
#include "hdtrace/format/xml_reader.h"
#include "hdtrace/matching/saturated.h"

namespace hdtrace {
namespace {

using namespace detail;

constexpr std::string_view trace_extension = ".trc";
constexpr std::string_view root_name = "Statistics", root_end = "</Statistics>";
// Files come from strangers.
constexpr std::size_t most_rows = 100'000;
constexpr std::size_t most_path_bytes = std::size_t{256} << 20;

std::int64_t nanoseconds(const XmlReader& xml, const Element& element, std::string_view name)
{
    const auto text = element.find(name);
    const auto time = text ? parse_time(*text) : std::nullopt;
    if (!time || *time < 0)
        xml.fail("<" + element.name + "> has no time " + std::string(name));
    return *time;
}

/// A number that is not negative; 0 if it is not there.
std::int64_t count(const XmlReader& xml, const Element& element, std::string_view name)
{
    const std::int64_t value = optional_number(xml, element, name).value_or(0);
    if (value < 0)
        xml.fail(std::string(name) + " is negative");
    return value;
}

class SumsReader {
  public:
    SumsReader(const std::string& path, ByteSource& source) : m_xml(path, source) {}

    Sums read()
    {
        Sums sums;
        try {
            m_xml.next();
            const Element root = read_element(m_xml);
            if (root.name != root_name)
                m_xml.fail("these are no statistics: the root is <" + root.name + ">, not <Statistics>");
            if (__builtin_mul_overflow(number(m_xml, root, "timeAdjustment"), nanoseconds_per_second,
                                       &m_base))
                m_xml.fail("timeAdjustment is too large");
            for_each_child(m_xml, [&](const Element& child) { read(child, sums); });
            m_xml.next();
        } catch (const EndOfData&) {
            sums.missing = root_end;
        }
        return sums;
    }

  private:
    void read(const Element& row, Sums& sums)
    {
        if (sums.rows.size() >= most_rows || m_paths.size() >= most_rows || m_path_bytes > most_path_bytes)
            m_xml.fail("there are more rows than the tracer writes");
        if (row.name == "Path")
            read_path(row);
        else
            sums.rows.push_back(summed(row));
        m_xml.skip();
        m_xml.forget_items();
    }

    // Those that are around it come first.
    void read_path(const Element& row)
    {
        const std::int64_t id = number(m_xml, row, "id"), around = number(m_xml, row, "around");
        if (id != std::ssize(m_paths) || around < 0 || around >= id)
            m_xml.fail("the paths of regions do not follow each other");
        m_names.push_back(row.text("name"));
        m_paths.push_back((around > 0 ? m_paths[around] + "/" : "") + name_in_path(m_names.back()));
        m_path_bytes += m_paths.back().size();
    }

    SummedCalls summed(const Element& row)
    {
        SummedCalls calls;
        const std::int64_t path = count(m_xml, row, "region");
        if (path >= std::ssize(m_paths))
            m_xml.fail("there is no region " + std::to_string(path));
        calls.regions = m_paths[path];
        calls.is_rest = row.has("rest");
        calls.size = optional_number(m_xml, row, "size");
        calls.calls = count(m_xml, row, "calls");
        calls.sent = count(m_xml, row, "sent");
        calls.received = count(m_xml, row, "received");
        calls.posted = count(m_xml, row, "posted");
        if (facts_of(row.name).file == FileAccess::write) // which writes what it is asked for
            calls.sent = saturated_sum(calls.sent, calls.posted);
        calls.bytes = saturated_sum(calls.sent, calls.received);
        calls.call.name = row.name;
        calls.call.line = m_xml.line();
        for (const char* const name : {"site", "toRank", "fromRank", "cid", "fid", "rc", "unfinished"})
            if (const auto value = row.find(name))
                calls.call.attributes.push_back(name, *value);
        if (row.name == "Message") {
            calls.kind = SummedCalls::Kind::messages;
            calls.call.name = row.text("by");
            return calls;
        }
        if (row.name == "Region") {
            calls.kind = SummedCalls::Kind::region;
            calls.call.name = calls.is_rest ? "(other regions)" : m_names[path];
        }
        calls.call.time = moment(row, "first");
        calls.call.end = moment(row, "last");
        if (!calls.call.is_unfinished()) {
            calls.total = nanoseconds(m_xml, row, "total");
            calls.exclusive = nanoseconds(m_xml, row, "exclusive");
            calls.shortest = nanoseconds(m_xml, row, "shortest");
            calls.longest = nanoseconds(m_xml, row, "longest");
        }
        return calls;
    }

    std::int64_t moment(const Element& row, std::string_view name)
    {
        std::int64_t time = 0;
        if (__builtin_add_overflow(m_base, nanoseconds(m_xml, row, name), &time))
            m_xml.fail(std::string(name) + " is too large");
        return time;
    }

    XmlReader m_xml;
    std::int64_t m_base = 0;
    std::size_t m_path_bytes = 0;
    std::vector<std::string> m_names = {""}; ///< of regions, by the id of the path that ends with them
    std::vector<std::string> m_paths = {""};
};

void translate(const ProjectRanks& ranks, SummedCalls& row)
{
    AttributeList& attributes = row.call.attributes;
    const auto receiver = attributes.find("toRank");
    if (row.kind == SummedCalls::Kind::calls)
        ranks.translate(row.call);
    else if (row.kind == SummedCalls::Kind::messages && receiver)
        attributes.set_value(*receiver, std::to_string(ranks.rank(attributes.number(*receiver).value_or(0))));
}

void correct(const HostClock& clock, State& call)
{
    call.time = clock.corrected(call.time);
    call.end = std::max(call.time, clock.corrected(call.end));
}

} // namespace

std::string sums_path(const std::string& trace)
{
    const std::string_view plain = plain_name(trace);
    return std::string(plain.substr(0, plain.size() - (plain.ends_with(trace_extension) ? 4 : 0))) + ".stats";
}

bool has_only_sums(const std::string& trace)
{
    return !is_there_in_some_form(trace) && is_there(sums_path(trace));
}

Sums read_sums(const std::string& path, std::int64_t node_file_size)
{
    File file(path);
    Sums sums = SumsReader(path, file).read();
    if (sums.missing.empty() && file.is_in_cut_node_file(node_file_size))
        sums.missing = root_end;
    return sums;
}

Sums read_sums(const TraceFile& trace)
{
    Sums sums = read_sums(sums_path(trace.path), trace.node_file_size);
    for (SummedCalls& row : sums.rows) {
        if (trace.ranks)
            translate(*trace.ranks, row);
        if (trace.clock)
            correct(*trace.clock, row.call);
    }
    return sums;
}

void check_has_calls(const TraceFile& trace)
{
    if (has_only_sums(trace.path))
        throw ReadError(sums_path(trace.path), 0, 0,
                        "there are only sums over the calls, since the run was recorded with "
                        "--statistics-only; hdtrace stats, info and report show them");
}

} // namespace hdtrace
