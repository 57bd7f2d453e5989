#include "hdtrace/format/clock_list.h"

#include <charconv>
#include <cmath>
#include <map>

#include "hdtrace/format/nanoseconds.h"
#include "hdtrace/format/proj_xml.h"
#include "hdtrace/format/traces.h"

namespace hdtrace::detail {
namespace {

std::int64_t time_in(XmlReader& xml, const Element& element, std::string_view name)
{
    const std::string text = element.text(name);
    const auto time = parse_time(text);
    if (!time || *time < -HostClock::latest || *time > HostClock::latest)
        xml.fail("'" + text + "' is not a time of a clock in seconds");
    return *time;
}

double drift_in(XmlReader& xml, const Element& element)
{
    const std::string text = element.text("drift");
    double drift = NAN;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), drift);
    if (error != std::errc() || end != text.data() + text.size() ||
        !(std::abs(drift) <= HostClock::most_drift))
        xml.fail("'" + text + "' is not a drift of a clock");
    return drift;
}

HostClock read_clock(XmlReader& xml, const Element& element)
{
    HostClock clock;
    clock.host = element.text("host");
    if (element.find("uncertainty"))
        clock.uncertainty = static_cast<double>(time_in(xml, element, "uncertainty"));
    std::vector<HostClock::Part> parts;
    for_each_child(xml, [&](const Element& child) {
        if (child.name == "Part") {
            parts.push_back(
                {time_in(xml, child, "from"), time_in(xml, child, "offset"), drift_in(xml, child)});
            if (parts.size() > 1 && parts.back().from < parts.end()[-2].from)
                xml.fail("the parts of the clock of '" + clock.host + "' are not in the order of time");
        }
        xml.skip();
    });
    if (!parts.empty())
        clock.parts = std::move(parts);
    return clock;
}

} // namespace

void read_clocks(XmlReader& xml, Project& project)
{
    for_each_child(xml, [&](const Element& child) {
        if (child.name == "Clock")
            project.clocks.push_back(read_clock(xml, child));
        else
            xml.skip();
    });
}

void correct_run(Project& project)
{
    if (project.clocks.empty())
        return;
    std::map<std::int64_t, std::shared_ptr<const HostClock>> clocks;
    for (const TraceFile& trace : traces_of(project))
        clocks.try_emplace(trace.rank, trace.clock);
    for (RunProcess& process : project.run.processes) {
        const auto found = clocks.find(process.rank);
        if (found == clocks.end() || !found->second)
            continue;
        const HostClock& clock = *found->second;
        for (CpuTime& cpu : process.cpu_times)
            cpu.time = clock.corrected(cpu.time);
        for (FatalSignal& signal : process.signals)
            signal.time = clock.corrected(signal.time);
        for (RunThread& thread : process.threads) {
            thread.begin = clock.corrected(thread.begin);
            if (thread.end)
                thread.end = clock.corrected(*thread.end);
        }
    }
}

} // namespace hdtrace::detail
