#include "hdtrace/format/oversubscription.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "hdtrace/format/traces.h"

namespace hdtrace {
namespace {

struct Processors {
    std::int64_t usable = 0; ///< by one process
    std::int64_t online = 0; ///< on its host
};

/// What processes tell of their processors.
class ToldProcessors {
  public:
    explicit ToldProcessors(const Run& run)
    {
        for (const RunFact& fact : run.facts) {
            if (fact.fact.name != "Processors")
                continue;
            const Processors told{fact.fact.integer("usable").value_or(0),
                                  fact.fact.integer("online").value_or(0)};
            for (const RunFact::Ranks& ranks : fact.ranks)
                m_told.emplace(ranks.first, std::pair(ranks.last, told));
        }
    }

    const Processors* find(std::int64_t rank) const
    {
        const auto after = m_told.upper_bound(rank);
        if (after == m_told.begin())
            return nullptr;
        const auto& [last, told] = std::prev(after)->second;
        return rank <= last ? &told : nullptr;
    }

  private:
    std::map<std::int64_t, std::pair<std::int64_t, Processors>> m_told; ///< by the first rank, with the last
};

struct Host {
    std::int64_t processes = 0;
    std::int64_t usable = 0; ///< summed up: some may be counted several times
    std::int64_t online = 0;
    double used = 0, passed = 0; ///< processor time, and time, of the processes that tell both
    double waited = 0;           ///< sum of parts of the time, of processes that tell how long they waited
    std::int64_t told_waiting = 0;
    double most_waited = 0;
    std::int64_t most_waited_by = -1;
    bool is_told_by_all = true;

    void add(std::int64_t rank, const Processors* processors, const RunProcess* process)
    {
        ++processes;
        is_told_by_all = is_told_by_all && processors && processors->usable > 0;
        if (processors) {
            usable += processors->usable;
            online = std::max(online, processors->online);
        }
        if (process && process->cpu_times.size() > 1) {
            const CpuTime &begin = process->cpu_times.front(), &end = process->cpu_times.back();
            used += static_cast<double>(end.user - begin.user + end.system - begin.system);
            passed += static_cast<double>(end.time - begin.time);
            if (begin.waited && end.waited && end.time > begin.time)
                add_waiting(rank, static_cast<double>(*end.waited - *begin.waited) /
                                      static_cast<double>(end.time - begin.time));
        }
    }
    void add_waiting(std::int64_t rank, double part)
    {
        ++told_waiting;
        waited += part;
        if (part > most_waited) {
            most_waited = part;
            most_waited_by = rank;
        }
    }
    std::int64_t processors() const { return std::min(usable, online); }
    bool is_oversubscribed() const
    {
        constexpr double least = 0.05;
        return is_told_by_all && (processes > processors() || most_waited >= least);
    }
};

std::string percent(double part)
{
    return std::to_string(std::lround(100 * part)) + " %";
}

std::map<std::string, Host> hosts_of(const Project& project)
{
    const ToldProcessors processors(project.run);
    std::map<std::int64_t, const RunProcess*> processes;
    for (const RunProcess& process : project.run.processes)
        processes[process.rank] = &process;

    std::map<std::string, Host> hosts;
    std::int64_t last_rank = -1;
    for (const TraceFile& trace : traces_of(project)) { // in the order of their ranks
        if (trace.rank == last_rank)
            continue;
        last_rank = trace.rank;
        const auto process = processes.find(trace.rank);
        hosts[host_of(project, trace.labels)].add(trace.rank, processors.find(trace.rank),
                                                  process == processes.end() ? nullptr : process->second);
    }
    return hosts;
}

} // namespace

std::string OversubscribedHost::text() const
{
    std::string text = std::to_string(processes) + (processes == 1 ? " process on " : " processes on ") +
                       std::to_string(processors) + (processors == 1 ? " processor of " : " processors of ") +
                       host;
    const bool tells_running = running && *running < 1;
    if (tells_running)
        text += ", each running " + percent(*running) + " of the time";
    if (waiting)
        text += (tells_running ? " and waiting " : ", each waiting ") + percent(*waiting) +
                (tells_running ? "" : " of the time") + " for a processor";
    constexpr double clearly_more = 0.05;
    if (waiting && most_waiting >= *waiting + clearly_more)
        text += " (rank " + std::to_string(most_waiting_rank) + ": " + percent(most_waiting) + ")";
    if (processes <= processors)
        text += ", beside other programs or threads";
    return text;
}

std::vector<OversubscribedHost> oversubscribed_hosts(const Project& project)
{
    std::vector<OversubscribedHost> oversubscribed;
    for (const auto& [name, host] : hosts_of(project)) {
        if (!host.is_oversubscribed())
            continue;
        const auto ratio = [](double part, double whole) {
            return whole > 0 ? std::optional(part / whole) : std::nullopt;
        };
        oversubscribed.push_back({name, host.processes, host.processors(), ratio(host.used, host.passed),
                                  ratio(host.waited, static_cast<double>(host.told_waiting)),
                                  host.most_waited, host.most_waited_by});
    }
    return oversubscribed;
}

} // namespace hdtrace
