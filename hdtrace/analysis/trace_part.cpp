#include "hdtrace/analysis/trace_part.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/format/trace_lines.h"
#include "hdtrace/matching/regions.h"
#include "hdtrace/tools/file_error.h"

namespace hdtrace {
namespace {

/// Whether it or anything inside it is selected.
bool wants_any(const Selection& selection, const State& state)
{
    return selection.wants(state) || std::ranges::any_of(state.nested, [&](const State& nested) {
               return wants_any(selection, nested);
           });
}

/// What began before an interval and is not over when it begins.
class KeptBefore {
  public:
    /// @p in_flight: where the calls stand that are kept if they are selected.
    KeptBefore(Selection selection, const std::set<std::int64_t>& in_flight)
        : m_selection(std::move(selection)), m_in_flight(in_flight)
    {
        m_selection.interval = {};
    }

    void add(const State& state, std::int64_t base)
    {
        if (state.is_event)
            return add_event(state, base);
        for (const State& nested : state.nested)
            add_event(nested, base);
        // Also if only its starts are selected: they mean nothing without it.
        const bool prepares = facts_of(state.name).progress == CallProgress::prepares;
        if (is_in_flight(state) && (prepares || wants_any(m_selection, state)))
            add_line(state, base);
    }

    /// In their order.
    void write(std::ostream& out) const
    {
        for (const auto& [number, line] : m_lines)
            out << line;
    }

  private:
    void add_event(const State& event, std::int64_t base)
    {
        if (!event.is_event)
            return;
        const std::string name(event.find("name").value_or(""));
        const EventKind kind = event_kind(event);
        if (kind == EventKind::begin) {
            m_open[name].push_back(add_line(event, base));
        } else if (kind == EventKind::end && !m_open[name].empty()) {
            m_lines.erase(m_open[name].back());
            m_open[name].pop_back();
        }
    }

    std::size_t add_line(const State& state, std::int64_t base)
    {
        m_lines.emplace(++m_last, trace_line(state, base));
        return m_last;
    }

    /// What is inside a call may stand on other lines.
    bool is_in_flight(const State& state) const
    {
        return m_in_flight.contains(state.line) ||
               std::ranges::any_of(state.nested,
                                   [this](const State& nested) { return is_in_flight(nested); });
    }

    Selection m_selection;
    const std::set<std::int64_t>& m_in_flight;
    std::size_t m_last = 0;
    std::map<std::size_t, std::string> m_lines;             ///< by their order
    std::map<std::string, std::vector<std::size_t>> m_open; ///< regions by name
};

/// All that the root says, but for its place among the segments of a trace.
std::string root_line(const TrcReader& reader)
{
    Element root;
    root.name = "Program";
    for (const Attribute& attribute : reader.attributes())
        if (attribute.name != "segment" && attribute.name != "before")
            root.attributes.push_back(attribute.name, attribute.value);
    return opening_tag(root) + "\n";
}

} // namespace

std::string write_part(const Project& project, const TraceFile& trace, const Selection& selection,
                       const std::set<std::int64_t>& in_flight, const std::string& path)
{
    TrcReader reader(trace.path, {.node_file_size = trace.node_file_size});
    Selection wanted = selection;
    wanted.events = true;
    wanted.unfinished = true;
    if (in_flight.empty()) // lines are counted from the beginning
        reader.seek(recorded_begin(trace, with_prepared(project, with_regions(project, wanted)).interval));
    std::ofstream out(path, std::ios::binary);
    out << "<?xml version='1.0' encoding='UTF-8'?>\n" << root_line(reader);
    const std::int64_t base = reader.time_adjustment();
    std::optional<TimeCorrection> correction; // of the times that decide; those that are written stay
    if (trace.clock)
        correction.emplace(trace.clock);
    State corrected;
    KeptBefore before(wanted, in_flight);
    bool is_before = true;
    bool is_behind = false;
    for (State state; out && !is_behind && reader.next(state);) {
        if (correction) {
            corrected = state;
            correction->correct(corrected);
        }
        const State& selected = correction ? corrected : state;
        is_behind = selected.time > wanted.interval.end;
        if (is_before && selected.end < wanted.interval.begin) {
            before.add(state, base);
            continue;
        }
        if (std::exchange(is_before, false))
            before.write(out);
        if (!is_behind && wants_any(wanted, selected))
            out << trace_line(state, base);
    }
    if (is_before)
        before.write(out);
    const std::string missing = reader.missing();
    if (missing.empty())
        out << detail::closing << "\n";
    out.close();
    if (!out)
        throw tools::FileError(path, errno);
    return missing;
}

} // namespace hdtrace
