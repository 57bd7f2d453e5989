#include "merger/inputs.h"

#include "hdtrace/format/compressed.h"
#include "hdtrace/format/packed_file.h"
#include "hdtrace/format/writing_process.h"
#include "merger/trace_name.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace hdtrace::merger {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view info_extension = ".info";
constexpr std::string_view trace_extension = ".trc";
constexpr std::string_view sums_extension = ".stats"; // in the place of a trace

/// Collects files. Of a directory that was spelled in several ways one spelling stays.
class FileSet {
  public:
    void insert(const std::string& path)
    {
        const std::string directory(directory_of(path));
        m_files[canonical(directory)].insert(path.substr(directory.size()));
    }

    std::vector<std::string> paths() const
    {
        std::vector<std::string> paths;
        for (const auto& [directory, names] : m_files) {
            for (const std::string& name : names)
                paths.push_back(m_spelling.at(directory) + name);
        }
        return paths;
    }

  private:
    const std::string& canonical(const std::string& directory)
    {
        auto [known, is_new] = m_canonical.try_emplace(directory);
        if (is_new) {
            known->second = fs::weakly_canonical(directory.empty() ? "." : directory).string();
            const auto [spelling, is_first] = m_spelling.try_emplace(known->second, directory);
            if (!is_first && directory < spelling->second)
                spelling->second = directory;
        }
        return known->second;
    }

    std::map<std::string, std::string> m_canonical;       ///< of a spelling
    std::map<std::string, std::string> m_spelling;        ///< of a canonical directory
    std::map<std::string, std::set<std::string>> m_files; ///< names in a canonical directory
};

bool begins_with_any(std::string_view name, const std::set<std::string>& prefixes)
{
    return prefixes.empty() ||
           std::ranges::any_of(prefixes, [&](const std::string& prefix) { return name.starts_with(prefix); });
}

/// All traces in a node file whose names begin with one of @p prefixes.
std::size_t insert_contents(const std::string& node_file, const std::set<std::string>& prefixes,
                            FileSet& files, Report& report)
{
    std::size_t found = 0;
    if (detail::is_cut_off(node_file))
        report.warn(Topic::cut_off_traces, {node_file},
                    "this ends within a piece: the file was cut off, or a process was killed while it wrote");
    for (const std::string& path : detail::paths_in_node_file(node_file)) {
        const std::string_view name = std::string_view(path).substr(directory_of(path).size());
        if (!is_trace_file(name) || !begins_with_any(name, prefixes))
            continue;
        files.insert(path);
        ++found;
    }
    return found;
}

/// All traces in a directory whose names begin with one of @p prefixes.
std::size_t insert_matching(const std::string& directory, const std::set<std::string>& prefixes,
                            FileSet& files, Report& report)
{
    std::size_t found = 0;
    std::vector<std::string> node_files;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory.empty() ? "." : directory)) {
        const std::string name = entry.path().filename().string();
        if (detail::is_node_file(name))
            node_files.push_back(directory + name);
        if (!is_trace_file(name) || !begins_with_any(name, prefixes))
            continue;
        std::error_code ignored;
        if (entry.is_regular_file(ignored)) {
            files.insert(directory + name);
            ++found;
        } else if (!entry.is_directory(ignored))
            report.warn(Topic::unreadable_traces, {directory + name}, "this is not a regular file");
    }
    for (const std::string& path : node_files)
        found += insert_contents(path, prefixes, files, report);
    return found;
}

std::string with_slash(std::string directory)
{
    if (!directory.ends_with('/'))
        directory += '/';
    return directory;
}

void insert_argument(const std::string& argument, FileSet& files, Report& report)
{
    if (is_trace_file(argument)) {
        if (detail::is_file(argument))
            files.insert(argument);
        else
            report.error(argument, fs::exists(argument) ? "this is not a regular file" : "no such file");
        return;
    }
    if (detail::is_node_file(argument)) {
        if (insert_contents(argument, {}, files, report) == 0)
            report.error(argument, fs::exists(argument) ? "there is no .info and no .trc in this file"
                                                        : "no such file");
        return;
    }
    if (fs::is_directory(argument)) {
        if (insert_matching(with_slash(argument), {}, files, report) == 0)
            report.error(argument, "there is no .info and no .trc in this directory");
        return;
    }
    bool found = false;
    for (const auto extension : {info_extension, trace_extension, sums_extension}) {
        const std::string path = detail::existing_name(argument + std::string(extension));
        if (detail::is_file(path)) {
            files.insert(path);
            found = true;
        }
    }
    if (found)
        return;
    const std::string directory(directory_of(argument));
    const std::string program = argument.substr(directory.size());
    if (program.empty() ||
        insert_matching(directory, {program + "_", file_label(program) + "_"}, files, report) == 0)
        report.error(argument, "there is no " + argument + "_*.info and no " + argument + "_*.trc");
}

/// Ranks in their order first, then everything else in the order of the names.
using SortKey = std::tuple<std::int64_t, std::int64_t, std::string>;

SortKey sort_key(const InfoInput& input)
{
    constexpr auto last = std::numeric_limits<std::int64_t>::max();
    const std::string& path = input.info.empty() ? input.traces.front() : input.info;
    const auto name = split_trace_name(path, mpi_levels.size());
    const auto rank = name ? label_number(name->labels[1]) : std::nullopt;
    const auto thread = name ? label_number(name->labels[2]) : std::nullopt;
    if (!rank || !thread)
        return {last, last, path};
    return {*rank, *thread, path};
}

bool sort_key_less(const SortKey& a, const SortKey& b)
{
    if (std::get<0>(a) != std::get<0>(b) || std::get<1>(a) != std::get<1>(b))
        return a < b;
    return strverscmp(std::get<2>(a).c_str(), std::get<2>(b).c_str()) < 0;
}

} // namespace

bool is_trace_file(std::string_view path)
{
    return path.ends_with(info_extension) || path.ends_with(sums_extension) ||
           detail::plain_name(path).ends_with(trace_extension);
}

std::vector<InfoInput> find_inputs(const std::vector<std::string>& arguments, Report& report)
{
    FileSet files;
    for (const std::string& argument : arguments) {
        try {
            insert_argument(argument, files, report);
        } catch (const fs::filesystem_error& error) {
            report.error(argument, error.code().message());
        }
    }

    std::set<std::string> infos;
    std::multimap<std::string, std::string> traces_of_info;
    std::vector<InfoInput> inputs;
    for (const std::string& path : files.paths()) {
        if (path.ends_with(info_extension))
            infos.insert(path);
        else if (const std::string info = detail::info_of_trace(path); !info.empty()) {
            infos.insert(info);
            traces_of_info.emplace(info, path);
        } else
            inputs.push_back({"", {path}});
    }
    for (const std::string& info : infos) {
        InfoInput input{info, {}};
        const auto [first, last] = traces_of_info.equal_range(info);
        for (auto trace = first; trace != last; ++trace)
            input.traces.push_back(trace->second);
        inputs.push_back(std::move(input));
    }

    std::vector<std::pair<SortKey, InfoInput>> sorted;
    for (InfoInput& input : inputs)
        sorted.emplace_back(sort_key(input), std::move(input));
    std::ranges::sort(sorted, sort_key_less, &std::pair<SortKey, InfoInput>::first);
    inputs.clear();
    for (auto& [ignored, input] : sorted)
        inputs.push_back(std::move(input));
    return inputs;
}

} // namespace hdtrace::merger
