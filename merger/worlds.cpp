#include "merger/worlds.h"

#include "hdtrace/format/errors.h"
#include "hdtrace/format/info.h"
#include "merger/runs.h"
#include "merger/trace_name.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

namespace hdtrace::merger {

namespace {

std::string base_of(const InfoInput& input)
{
    const auto name =
        split_trace_name(input.info.empty() ? input.traces.front() : input.info, mpi_levels.size());
    return name ? name->base : std::string();
}

/// The first line tells it. Whoever reads the file later says what is wrong with it.
std::string world_of(const std::string& info)
{
    try {
        InfoReader reader(info);
        InfoLine line;
        if (reader.next(line) && line.kind() == "Process")
            return line.text_or("world", "");
    } catch (const ReadError&) {
    } catch (const OpenError&) {
    }
    return {};
}

/// Launchers number the worlds in the order in which they start them; the first one has no number.
bool world_less(const std::string& a, const std::string& b)
{
    return strverscmp(a.c_str(), b.c_str()) < 0;
}

} // namespace

std::vector<InfoInput> by_world(std::vector<InfoInput> inputs)
{
    std::set<std::string> bases;
    for (const InfoInput& input : inputs)
        bases.insert(base_of(input));
    if (bases.size() < 2) // the world is in the names, so it is one
        return inputs;
    std::map<std::string, std::string> world_of_base; // for processes that do not tell it
    std::set<std::string> told;
    for (InfoInput& input : inputs) {
        input.world = input.info.empty() ? std::string() : world_of(input.info);
        if (input.world.empty())
            continue;
        world_of_base.try_emplace(base_of(input), input.world);
        told.insert(input.world);
    }
    for (InfoInput& input : inputs) {
        if (!input.world.empty())
            continue;
        if (const auto found = world_of_base.find(base_of(input)); found != world_of_base.end())
            input.world = found->second;
        else if (told.size() == 1) // several programs make up one world, too
            input.world = *told.begin();
    }
    std::ranges::stable_sort(inputs, world_less, &InfoInput::world);
    return inputs;
}

void WorldSequence::enter(const ProcessInfo& info, const std::string& world_of_input)
{
    const std::string& world =
        info.process && !info.process->world.empty() ? info.process->world : world_of_input;
    if (!world.empty() && !m_worlds.empty() &&
        !m_firsts.back()) // the processes before it were killed before they told
        m_worlds.back().uid = world;
    if (m_worlds.empty() || (!world.empty() && world != current().uid)) {
        const std::int64_t first =
            m_worlds.empty() ? 0 : current().first + std::min(current().size, process_limit);
        m_worlds.push_back({world, first});
        m_firsts.emplace_back();
    }
    if (!info.process || m_firsts.back())
        return;
    m_firsts.back() = info.process;
    if (const auto size = info.process->size; size && *size >= 0) {
        m_worlds.back().size = *size;
        m_worlds.back().is_size_told = true;
    }
}

bool WorldSequence::add_rank(std::int64_t rank_in_world)
{
    World& world = m_worlds.back();
    if (!world.is_size_told)
        world.size = std::max(world.size, rank_in_world + 1);
    return rank_in_world < world.size;
}

bool WorldSequence::check_run(const ProcessInfo& info)
{
    if (!info.process)
        return true;
    const ProcessLine& process = *info.process;
    const ProcessLine& first = *m_firsts.back();
    if (!check_launch(process))
        return false;
    if (process.size != first.size) {
        m_report.error(process.place, "size differs from " + to_string(first.place) +
                                          ": these are traces of different runs");
        return false;
    }
    if (!process.run.empty() && !first.run.empty() && process.run != first.run) {
        report_other_run(process, first);
        return false;
    }
    return true;
}

/// Each world is a run of its own for the launcher, but all of them are of one launch.
bool WorldSequence::check_launch(const ProcessLine& process)
{
    const auto& parents = m_firsts.front();
    if (m_worlds.size() == 1 || !parents || parents->run.empty() || process.run.empty() ||
        launch_of(parents->run) == launch_of(process.run))
        return true;
    report_other_run(process, *parents);
    return false;
}

void WorldSequence::report_other_run(const ProcessLine& process, const ProcessLine& first)
{
    if (m_other_runs.insert(process.run).second)
        m_report.error(process.place, "this is a process of the run '" + process.run + "', but " +
                                          to_string(first.place) + " of '" + first.run +
                                          "': merge the files of each run by themselves");
}

void WorldSequence::check_links(const std::vector<std::pair<std::size_t, std::size_t>>& links)
{
    std::set<std::size_t> linked = {0};
    for (std::size_t known = 0; known != linked.size();) {
        known = linked.size();
        for (const auto& [a, b] : links) {
            if (linked.contains(a) || linked.contains(b))
                linked.insert({a, b});
        }
    }
    const auto& parents = m_firsts.front();
    for (std::size_t i = 1; i < m_worlds.size(); ++i) {
        const auto& first = m_firsts[i];
        if (linked.contains(i) || !first)
            continue;
        m_report.error(first->place,
                       "this is a process of the world '" + first->world +
                           "', which has no communicator in common with " +
                           (parents ? "the world '" + parents->world + "' of " + to_string(parents->place)
                                    : "the other processes") +
                           ": merge each world by itself");
    }
}

std::optional<Place> WorldSequence::first_place() const
{
    for (const auto& first : m_firsts) {
        if (first)
            return first->place;
    }
    return std::nullopt;
}

} // namespace hdtrace::merger
