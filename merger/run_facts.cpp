#include "merger/run_facts.h"

#include <algorithm>
#include <ranges>

namespace hdtrace::merger {

namespace {

constexpr bool number = true;
constexpr bool optional = false;

std::size_t kind_named(std::string_view name)
{
    return static_cast<std::size_t>(std::ranges::find(fact_kinds(), name, &FactKind::name) -
                                    fact_kinds().begin());
}

std::optional<std::string> value_of(const InfoLine& line, const FactKey& key)
{
    if (!key.is_required && !line.has(key.name))
        return std::nullopt;
    if (!key.is_number)
        return line.text(key.name);
    return std::to_string(line.natural(key.name));
}

RunFact fact_of(const InfoLine& line, std::size_t kind)
{
    RunFact fact{kind, {}};
    for (const FactKey& key : fact_kinds()[kind].keys)
        fact.values.push_back(value_of(line, key));
    return fact;
}

std::int64_t time_of(const InfoLine& line, std::string_view key)
{
    line.text(key);
    const std::int64_t time = *line.optional_nanoseconds(key);
    if (time < 0)
        line.fail(key, std::string(key) + " is negative");
    return time;
}

} // namespace

const std::vector<FactKind>& fact_kinds()
{
    static const std::vector<FactKind> kinds = {
        {"Origin",
         {{"format"},
          {"creator", !number, optional},
          {"times", !number, optional},
          {"lacks", !number, optional}}},
        {"User", {{"name", !number, optional}, {"uid", number, optional}, {"omitted", number, optional}}},
        {"Library", {{"version"}, {"tracer", !number, optional}, {"omitted", number, optional}}},
        {"Program", {{"path"}, {"threadLevel", !number, optional}}},
        {"Command", {{"line"}, {"omitted", number, optional}}},
        {"Directory", {{"path"}, {"omitted", number, optional}}},
        {"Processors", {{"usable", number}, {"online", number}}},
        {"Running", {}},
        {"SuddenEnd", {}},
        {"NodeFile", {{"size", number}}},
        {"Note", {{"key"}, {"value"}, {"omitted", number, optional}}},
        {"Setting", {{"name"}, {"value"}, {"from"}, {"omitted", number, optional}}},
        {"Variable",
         {{"name"},
          {"value", !number, optional},
          {"hidden", number, optional},
          {"omitted", number, optional}}},
        {"Rule",
         {{"record"},
          {"line", number},
          {"call", !number, optional},
          {"class", !number, optional},
          {"rank", !number, optional},
          {"host", !number, optional},
          {"region", !number, optional},
          {"peer", !number, optional},
          {"size", !number, optional},
          {"occurrence", !number, optional},
          {"time", !number, optional},
          {"from", !number, optional},
          {"until", !number, optional},
          {"file", !number, optional}}},
        {"Bound", {{"name"}, {"value"}}},
        {"Calls", {{"name"}, {"recorded", number}, {"ignored", number}, {"ignoredTime", !number, optional}}},
        {"Region",
         {{"name"}, {"class", !number, optional}, {"file", !number, optional}, {"line", number, optional}}},
        {"Counter",
         {{"name"},
          {"class", !number, optional},
          {"type"},
          {"unit", !number, optional},
          {"lower", !number, optional},
          {"upper", !number, optional},
          {"scope", !number, optional},
          {"of", !number, optional},
          {"valid", !number, optional},
          {"display", !number, optional},
          {"description", !number, optional}}},
        {"Place",
         {{"host"},
          {"by"},
          {"address"},
          {"pattern", !number, optional},
          {"device", !number, optional},
          {"port", !number, optional},
          {"guid", !number, optional}}},
    };
    return kinds;
}

bool ProcessRun::is_for_check() const
{
    static const std::size_t setting = kind_named("Setting");
    return std::ranges::any_of(facts, [](const RunFact& fact) {
        return fact.kind == setting && fact.values[0] == "HDTRACE_FOR_CHECK" && fact.values[1] == "1";
    });
}

bool RunLoader::load(const InfoLine& line)
{
    if (line.kind() == "Process")
        load_process(line);
    else if (line.kind() == "CpuTime")
        load_cpu_time(line);
    else if (line.kind() == "Signal")
        load_signal(line);
    else if (line.kind() == "Thread")
        load_thread(line);
    else if (const std::size_t kind = kind_named(line.kind()); kind < fact_kinds().size())
        m_run.facts.push_back(fact_of(line, kind));
    else
        return false;
    return true;
}

// Older tracers and programs without MPI do not tell their number.
void RunLoader::load_process(const InfoLine& line)
{
    if (m_run.pid || !line.has("pid"))
        return;
    m_run.pid = line.natural("pid");
    m_run.began = line.optional_integer("timeAdjustment").value_or(0);
    m_run.facts.push_back(
        {kind_named("Program"), {line.text_or("program", ""), line.text_or("threadLevel", "")}});
}

void RunLoader::note_running()
{
    m_run.facts.push_back({kind_named("Running"), {}});
}

void RunLoader::note_sudden_end()
{
    m_run.facts.push_back({kind_named("SuddenEnd"), {}});
}

void RunLoader::note_node_file(std::int64_t size)
{
    m_run.facts.push_back({kind_named("NodeFile"), {std::to_string(size)}});
}

void RunLoader::note_lost(std::int64_t states)
{
    m_run.facts.push_back({kind_named("Bound"), {"lost-states", std::to_string(states)}});
}

void RunLoader::note_lost_lines(std::int64_t lines)
{
    m_run.facts.push_back({kind_named("Bound"), {"lost-lines", std::to_string(lines)}});
}

void RunLoader::load_cpu_time(const InfoLine& line)
{
    CpuTime cpu{time_of(line, "time"), time_of(line, "user"), time_of(line, "system"), {}};
    if (line.has("waited"))
        cpu.waited = time_of(line, "waited");
    m_run.cpu_times.push_back(cpu);
}

void RunLoader::load_signal(const InfoLine& line)
{
    FatalSignal signal{line.text("name"), time_of(line, "time"), {}};
    if (line.has("thread"))
        signal.thread = line.natural("thread");
    m_run.signals.push_back(std::move(signal));
}

// A thread has a line when it begins, and another one with more when it ends.
void RunLoader::load_thread(const InfoLine& line)
{
    if (!line.has("tid"))
        return;
    ThreadLife thread{line.natural("number"), line.natural("tid"), time_of(line, "begin"), {}, {}};
    if (line.has("end"))
        thread.end = time_of(line, "end");
    if (const std::string* const name = line.find("name"))
        thread.name = *name;
    const std::pair key(thread.number, thread.tid);
    const auto living = m_living.find(key);
    if (living == m_living.end())
        m_run.threads.push_back(thread);
    else
        m_run.threads[living->second] = thread;
    if (!thread.end && living == m_living.end())
        m_living[key] = m_run.threads.size() - 1;
    else if (thread.end && living != m_living.end())
        m_living.erase(living);
}

void RunUnifier::add(std::int64_t rank, ProcessRun run)
{
    m_checksum = joined_checksums(m_checksum, run.checksum);
    for (RunFact& fact : run.facts) {
        std::vector<RankRange>& ranks = m_facts[std::move(fact)];
        if (!ranks.empty() && ranks.back().last >= rank - 1)
            ranks.back().last = rank;
        else
            ranks.push_back({rank, rank});
    }
    run.facts = {};
    if (run.pid)
        m_processes.push_back({rank, std::move(run)});
}

MergedRun RunUnifier::take()
{
    MergedRun run{.checksum = m_checksum, .facts = {}, .processes = {}};
    while (!m_facts.empty()) {
        auto fact = m_facts.extract(m_facts.begin());
        run.facts.push_back({std::move(fact.key()), std::move(fact.mapped())});
    }
    run.processes = std::move(m_processes);
    return run;
}

} // namespace hdtrace::merger
