#include "hdtrace/format/run_reader.h"

#include "hdtrace/format/nanoseconds.h"
#include "hdtrace/format/proj_xml.h"

namespace hdtrace::detail {

namespace {

/// Nanoseconds of a time in seconds; nothing if there is none.
std::optional<std::int64_t> optional_time(const XmlReader& xml, const Element& element, std::string_view name)
{
    const auto value = element.find(name);
    if (!value)
        return {};
    const auto time = parse_time(*value);
    if (!time)
        xml.fail("'" + std::string(*value) + "' is not a time in seconds");
    return time;
}

std::int64_t time_of(const XmlReader& xml, const Element& element, std::string_view name)
{
    const auto time = optional_time(xml, element, name);
    if (!time)
        xml.fail("<" + element.name + "> has no attribute " + std::string(name));
    return *time;
}

RunFact read_fact(XmlReader& xml, const Element& element)
{
    RunFact fact{element, {}};
    for_each_child(xml, [&](const Element& child) {
        if (child.name == "Ranks")
            fact.ranks.push_back({number(xml, child, "first"), number(xml, child, "last")});
        xml.skip();
    });
    return fact;
}

/// Of a process, whose times count from a second.
class ProcessReader {
  public:
    ProcessReader(XmlReader& xml, const Element& element) : m_xml(xml)
    {
        m_process.rank = number(xml, element, "rank");
        m_process.pid = number(xml, element, "pid");
        if (__builtin_mul_overflow(number(xml, element, "began"), nanoseconds_per_second, &m_process.began))
            xml.fail("began is too large");
    }

    RunProcess read()
    {
        for_each_child(m_xml, [&](const Element& child) {
            if (child.name == "CpuTime")
                m_process.cpu_times.push_back({since_epoch(time_of(m_xml, child, "time")),
                                               time_of(m_xml, child, "user"), time_of(m_xml, child, "system"),
                                               optional_time(m_xml, child, "waited")});
            else if (child.name == "Signal")
                m_process.signals.push_back({child.text("name"), since_epoch(time_of(m_xml, child, "time")),
                                             child.integer("thread")});
            else if (child.name == "Thread")
                read_thread(child);
            m_xml.skip();
        });
        return std::move(m_process);
    }

  private:
    void read_thread(const Element& element)
    {
        RunThread thread{number(m_xml, element, "number"), number(m_xml, element, "tid"),
                         since_epoch(time_of(m_xml, element, "begin")), optional_time(m_xml, element, "end"),
                         element.text("name")};
        if (thread.end)
            thread.end = since_epoch(*thread.end);
        m_process.threads.push_back(std::move(thread));
    }

    std::int64_t since_epoch(std::int64_t time) const
    {
        if (__builtin_add_overflow(time, m_process.began, &time))
            m_xml.fail("the time is too large");
        return time;
    }

    XmlReader& m_xml;
    RunProcess m_process;
};

} // namespace

Run read_run(XmlReader& xml, const Element& element)
{
    Run run;
    run.checksum = element.integer("checksum");
    for_each_child(xml, [&](const Element& child) {
        if (child.name == "Process")
            run.processes.push_back(ProcessReader(xml, child).read());
        else
            run.facts.push_back(read_fact(xml, child));
    });
    return run;
}

} // namespace hdtrace::detail
