#include "merger/merged_project.h"

#include "hdtrace/format/errors.h"
#include "hdtrace/matching/saturated.h"
#include "merger/input_reader.h"

#include <algorithm>
#include <map>
#include <optional>

namespace hdtrace::merger {

namespace {

/// A process of which some .info files have been read.
struct OpenProcess {
    MergedProcess process;
    ProcessInfo info;
    const InfoInput* first_input = nullptr;
};

Place place_of(const InfoInput& input)
{
    return {input.info.empty() ? std::string_view(input.traces.front()) : std::string_view(input.info)};
}

std::string place_of(const ReadError& error)
{
    std::string place = error.file();
    for (const std::int64_t number : {error.line(), error.column()}) {
        if (number > 0)
            place += ":" + std::to_string(number);
    }
    return place;
}

/// By numbers if they are numbers.
bool label_less(const std::string& a, const std::string& b)
{
    const auto number_a = label_number(a);
    const auto number_b = label_number(b);
    return number_a && number_b && number_a != number_b ? number_a < number_b : a < b;
}

template <typename Record> std::vector<std::int64_t> ids_of(const std::map<std::int64_t, Record>& records)
{
    std::vector<std::int64_t> ids;
    for (const auto& [id, ignored] : records)
        ids.push_back(id);
    return ids;
}

/// In short: "1, 3-5".
std::string list_ranges(const std::vector<RankRange>& ranges)
{
    constexpr std::size_t most = 10;
    std::string text;
    for (std::size_t i = 0; i < std::min(ranges.size(), most); ++i) {
        text += (i > 0 ? ", " : "") + std::to_string(ranges[i].first);
        if (ranges[i].last > ranges[i].first)
            text += "-" + std::to_string(ranges[i].last);
    }
    return ranges.size() > most ? text + ", ..." : text;
}

class Unifier {
  public:
    Unifier(InputReader& reader, Report& report)
        : m_reader(reader), m_report(report), m_worlds(report), m_communicators(report), m_windows(report)
    {
    }

    /// @p inputs are sorted by_world().
    MergedProject run(const std::vector<InfoInput>& inputs)
    {
        std::vector<std::string_view> paths;
        for (const InfoInput& input : inputs) {
            if (!input.info.empty())
                paths.push_back(input.info);
        }
        m_reader.expect_infos(paths);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            m_report.progress("reading processes", i, inputs.size());
            add_input(inputs[i]);
        }
        close_process();
        finish();
        return std::move(m_project);
    }

  private:
    void add_input(const InfoInput& input)
    {
        try {
            if (continues_open_process(input))
                continue_process(input);
            else {
                close_process();
                m_open = open_process(input);
            }
        } catch (const ReadError& error) {
            m_report.error(place_of(error), error.reason());
        } catch (const OpenError& error) {
            m_report.error(error.file(), error.code().message());
        }
    }

    /// Some tracers wrote one .info for each thread.
    bool continues_open_process(const InfoInput& input) const
    {
        if (!m_open || !m_project.levels.has_ranks)
            return false;
        auto name = split_trace_name(place_of(input).file, mpi_levels.size());
        if (!name)
            return false;
        name->labels.pop_back();
        return *name == m_open->process.name;
    }

    void continue_process(const InfoInput& input)
    {
        add_threads(input, *m_open);
        add_info(input, *m_open);
    }

    OpenProcess open_process(const InfoInput& input)
    {
        OpenProcess open;
        open.first_input = &input;
        if (input.info.empty())
            m_report.warn(
                Topic::missing_info_files, place_of(input),
                "its .info is missing: files, communicators and datatypes of this process stay unknown");
        else
            add_info(input, open);
        check_levels(open.info.process ? open.info.process->levels : Levels(), input);
        set_name(input, open);
        open.process.rank = m_project.levels.has_ranks ? rank_of(open, input) : m_next_number++;
        m_worlds.enter(open.info, input.world);
        open.process.rank += m_worlds.current().first;
        add_threads(input, open);
        return open;
    }

    void add_info(const InfoInput& input, OpenProcess& open)
    {
        if (input.info.empty())
            return;
        m_reader.read_info(input.info, open.info, m_report);
        open.process.infos.push_back(input.info);
    }

    void set_name(const InfoInput& input, OpenProcess& open) const
    {
        const std::size_t label_count = m_project.levels.names.size();
        const Place place = place_of(input);
        auto name = split_trace_name(place.file, label_count);
        if (!name)
            throw ReadError(std::string(place.file), 0, 0,
                            "the name is not <base> and " + std::to_string(label_count) +
                                " labels, joined by '_'");
        name->labels.pop_back();
        open.process.name = std::move(*name);
    }

    void check_levels(const Levels& levels, const InfoInput& input)
    {
        if (m_levels_place.file.empty()) {
            m_project.levels = levels;
            m_levels_place = place_of(input);
        } else if (m_project.levels != levels)
            throw ReadError(std::string(place_of(input).file), 0, 0,
                            "the levels differ from those of " + to_string(m_levels_place) +
                                ": these are traces of different programs");
    }

    static std::int64_t rank_of(const OpenProcess& open, const InfoInput& input)
    {
        const auto rank = label_number(open.process.name.labels.back());
        if (!rank || *rank >= process_limit)
            throw ReadError(std::string(place_of(input).file), 0, 0,
                            "the name is not <base>_<host>_<rank>_<thread>, so the rank is not known");
        const auto& process = open.info.process;
        if (process && process->rank.value_or(*rank) != *rank)
            throw ReadError(std::string(process->place.file), static_cast<std::int64_t>(process->place.line),
                            0,
                            "this is rank " + std::to_string(*process->rank) +
                                ", but the file's name says rank " + std::to_string(*rank));
        return *rank;
    }

    void add_threads(const InfoInput& input, OpenProcess& open) const
    {
        std::vector<std::string> paths = input.traces;
        if (!input.info.empty())
            paths.push_back(input.info);
        for (const std::string& path : paths) {
            if (const auto name = split_trace_name(path, m_project.levels.names.size()))
                open.process.threads.push_back(name->labels.back());
        }
    }

    void close_process()
    {
        if (!m_open)
            return;
        OpenProcess open = std::move(*m_open);
        m_open.reset();
        if (!m_worlds.check_run(open.info))
            return;
        const Place place = place_of(*open.first_input);
        const World& world = m_worlds.current();
        const std::int64_t rank_in_world = open.process.rank - world.first;
        if (!m_project.processes.empty() && m_project.processes.back().rank == open.process.rank) {
            m_report.error(place, "rank " + std::to_string(rank_in_world) + " is also in " +
                                      to_string(m_last_place) + ": name only the files of one run");
            return;
        }
        if (!m_project.processes.empty() && m_project.processes.back().rank > open.process.rank) {
            m_report.error(place, "this is rank " + std::to_string(rank_in_world) + ", but comes behind " +
                                      to_string(m_last_place) +
                                      ", of which nothing tells the world: merge without that");
            return;
        }
        m_last_place = place;
        if (!m_worlds.add_rank(rank_in_world)) {
            report_rank_beyond(rank_in_world, world.size);
            return;
        }
        add_process(std::move(open));
    }

    void add_process(OpenProcess open)
    {
        MergedProcess& process = open.process;
        for (const std::int64_t number : open.info.threads)
            process.threads.push_back(std::to_string(number));
        std::ranges::sort(process.threads, label_less);
        const auto repeated = std::ranges::unique(process.threads);
        process.threads.erase(repeated.begin(), repeated.end());

        m_files.add(process.rank, process.first_thread(), open.info);
        if (m_project.levels.has_ranks && check_maps(open.info)) {
            const CommunicatorPositions positions =
                m_communicators.add(process.rank, m_worlds.current(), m_worlds.number(), open.info);
            m_windows.add(process.rank, open.info, m_communicators.all(), positions);
        }
        m_call_sites.add(process.rank, open.info);
        m_run.add(process.rank, std::move(open.info.run));
        process.ends = std::move(open.info.ends);
        process.lacks_objects = open.info.lost_lines > 0;
        process.datatypes = m_project.datatypes.add(open.info.datatypes, m_report);
        process.communicator_ids = ids_of(open.info.communicators);
        process.file_ids = ids_of(open.info.files);
        process.window_ids = ids_of(open.info.windows);
        if (m_project.processes.empty())
            m_project.name = open.info.process ? open.info.process->base : process.name.base;
        m_project.processes.push_back(std::move(process));
    }

    void finish()
    {
        m_project.files = m_files.take();
        UnitedWorlds united = unite_worlds(m_communicators.all(), m_communicators.take_foreign(), m_report);
        m_project.windows = m_windows.take(m_communicators.all(), united.positions);
        m_project.communicators = m_communicators.take();
        m_project.worlds = m_worlds.all();
        if (m_project.has_worlds()) {
            m_project.foreign = std::move(united.foreign);
            m_worlds.check_links(united.links);
        }
        m_project.call_sites = m_call_sites.take();
        m_project.run = m_run.take();
        m_project.process_count = process_count();
        if (!m_project.levels.has_ranks || m_project.processes.empty())
            return;
        check_ranks();
        add_world();
    }

    bool has_world() const
    {
        return !m_project.communicators.empty() && m_project.communicators.front().is_world;
    }

    std::int64_t process_count() const
    {
        if (m_project.worlds.empty())
            return 0;
        if (const World& last = m_project.worlds.back(); m_project.has_worlds() || last.is_size_told)
            return last.first + last.size;
        if (has_world())
            return m_project.communicators.front().map.size();
        return m_project.levels.has_ranks && !m_project.processes.empty()
                   ? m_project.processes.back().rank + 1
                   : std::ssize(m_project.processes);
    }

    void check_ranks()
    {
        const std::int64_t count = m_project.process_count;
        if (m_project.processes.back().rank >= count)
            report_rank_beyond(m_project.processes.back().rank, count);
        for (const MergedCommunicator& communicator : m_project.communicators) {
            check_map(communicator.map, communicator.place, count);
            check_map(communicator.remote, communicator.place, count);
        }
        warn_of_missing_processes();
    }

    void report_rank_beyond(std::int64_t rank, std::int64_t count)
    {
        m_report.error(m_last_place, "there is a rank " + std::to_string(rank) + ", but the program has " +
                                         std::to_string(count) + " processes");
    }

    bool check_map(const RankMap& map, const Place& place, std::int64_t count)
    {
        if (map.highest() < count)
            return true;
        m_report.error(place, "the map has rank " + std::to_string(map.highest()) + ", but the program has " +
                                  std::to_string(count) + " processes");
        return false;
    }

    /// Ranks beyond the world's would be those of another one. Whether all of them are in it.
    bool check_maps(const ProcessInfo& info)
    {
        const World& world = m_worlds.current();
        const auto fits = [&](const RankMap& map, const Place& place) {
            return !world.is_size_told || check_map(map, place, world.size);
        };
        return std::ranges::all_of(info.communicators, [&](const auto& communicator) {
            const CommunicatorRecord& record = communicator.second;
            return fits(record.map, record.place) && fits(record.remote, record.place);
        });
    }

    void warn_of_missing_processes()
    {
        std::vector<RankRange> missing;
        std::int64_t next = 0;
        const auto add_gap = [&](std::int64_t end) {
            if (next < end)
                missing.push_back({next, end - 1});
            next = end + 1;
        };
        for (const MergedProcess& process : m_project.processes)
            add_gap(process.rank);
        add_gap(m_project.process_count);
        if (!missing.empty())
            m_report.warn(Topic::missing_processes, m_worlds.first_place().value_or(m_last_place),
                          "the program has " + std::to_string(m_project.process_count) +
                              " processes; no files were given of rank " + list_ranges(missing));
    }

    /// Readers rely on the world, even if no process ever used it.
    void add_world()
    {
        if (has_world())
            return;
        MergedCommunicator world;
        world.name = "WORLD";
        world.map = RankMap::identity(m_project.has_worlds() ? m_project.worlds.front().size
                                                             : m_project.process_count);
        world.is_world = true;
        m_project.communicators.insert(m_project.communicators.begin(), std::move(world));
    }

    InputReader& m_reader;
    Report& m_report;
    MergedProject m_project;
    WorldSequence m_worlds;
    CommunicatorUnifier m_communicators;
    WindowUnifier m_windows;
    FileUnifier m_files;
    CallSiteUnifier m_call_sites;
    RunUnifier m_run;
    std::optional<OpenProcess> m_open;
    Place m_levels_place;
    Place m_last_place;
    std::int64_t m_next_number = 0;
};

} // namespace

std::string MergedProcess::trace_path(const std::string& thread) const
{
    TraceName trace = name;
    trace.labels.push_back(thread);
    return trace.path(".trc");
}

std::int64_t MergedProject::undescribed_members() const
{
    std::int64_t count = 0;
    const auto add = [&](std::int64_t members, std::size_t described) {
        count = saturated_sum(count, saturated_difference(members, static_cast<std::int64_t>(described)));
    };
    for (const MergedCommunicator& communicator : communicators)
        add(saturated_sum(communicator.map.size(), communicator.remote.size()), communicator.ids.size());
    for (const MergedWindow& window : windows)
        add(window.map.size(), window.parts.size());
    return count;
}

MergedProject unify(const std::vector<InfoInput>& inputs, InputReader& reader, Report& report)
{
    return Unifier(reader, report).run(inputs);
}

} // namespace hdtrace::merger
