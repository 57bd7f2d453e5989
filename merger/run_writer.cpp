#include "merger/run_writer.h"

#include "hdtrace/format/nanoseconds.h"

namespace hdtrace::merger {

namespace {

void write_ranks(const std::vector<RankRange>& ranges, XmlWriter& xml)
{
    for (const RankRange& range : ranges) {
        xml.start("Ranks");
        xml.attribute("first", range.first);
        xml.attribute("last", range.last);
        xml.end();
    }
}

void write_fact(const MergedRun::Fact& fact, XmlWriter& xml)
{
    const FactKind& kind = fact_kinds()[fact.fact.kind];
    xml.start(kind.name);
    for (std::size_t i = 0; i < kind.keys.size(); ++i) {
        if (const auto& value = fact.fact.values[i])
            xml.attribute(kind.keys[i].name, *value);
    }
    write_ranks(fact.ranks, xml);
    xml.end();
}

void write_thread(const ThreadLife& thread, XmlWriter& xml)
{
    xml.start("Thread");
    if (thread.name)
        xml.attribute("name", *thread.name);
    xml.attribute("number", thread.number);
    xml.attribute("tid", thread.tid);
    xml.attribute("begin", seconds_text(thread.begin));
    if (thread.end)
        xml.attribute("end", seconds_text(*thread.end));
    xml.end();
}

void write_process(const MergedRun::Process& process, XmlWriter& xml)
{
    xml.start("Process");
    xml.attribute("rank", process.rank);
    xml.attribute("pid", *process.run.pid);
    xml.attribute("began", process.run.began);
    for (const CpuTime& cpu : process.run.cpu_times) {
        xml.start("CpuTime");
        xml.attribute("time", seconds_text(cpu.time));
        xml.attribute("user", seconds_text(cpu.user));
        xml.attribute("system", seconds_text(cpu.system));
        if (cpu.waited)
            xml.attribute("waited", seconds_text(*cpu.waited));
        xml.end();
    }
    for (const FatalSignal& signal : process.run.signals) {
        xml.start("Signal");
        xml.attribute("name", signal.name);
        xml.attribute("time", seconds_text(signal.time));
        if (signal.thread)
            xml.attribute("thread", *signal.thread);
        xml.end();
    }
    for (const ThreadLife& thread : process.run.threads)
        write_thread(thread, xml);
    xml.end();
}

} // namespace

void write_run(const MergedRun& run, XmlWriter& xml)
{
    if (run.empty())
        return;
    xml.start("Run");
    xml.attribute("checksum", run.checksum);
    for (const MergedRun::Fact& fact : run.facts)
        write_fact(fact, xml);
    for (const MergedRun::Process& process : run.processes)
        write_process(process, xml);
    xml.end();
}

} // namespace hdtrace::merger
