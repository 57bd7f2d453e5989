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
    bool is_told_by_all = true;

    void add(const Processors* processors, const RunProcess* process)
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
        }
    }
    std::int64_t processors() const { return std::min(usable, online); }
};

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
        hosts[host_of(project, trace.labels)].add(processors.find(trace.rank),
                                                  process == processes.end() ? nullptr : process->second);
    }
    return hosts;
}

} // namespace

std::string OversubscribedHost::text() const
{
    std::string text = std::to_string(processes) + " processes on " + std::to_string(processors) +
                       (processors == 1 ? " processor of " : " processors of ") + host;
    if (running && *running < 1)
        text += ", each running " + std::to_string(std::lround(100 * *running)) + " % of the time";
    return text;
}

std::vector<OversubscribedHost> oversubscribed_hosts(const Project& project)
{
    std::vector<OversubscribedHost> oversubscribed;
    for (const auto& [name, host] : hosts_of(project)) {
        if (!host.is_told_by_all || host.processes <= host.processors())
            continue;
        const auto running = host.passed > 0 ? std::optional(host.used / host.passed) : std::nullopt;
        oversubscribed.push_back({name, host.processes, host.processors(), running});
    }
    return oversubscribed;
}

} // namespace hdtrace
