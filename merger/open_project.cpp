#include "merger/open_project.h"

#include "hdtrace/format/compressed.h"
#include "hdtrace/format/file.h"
#include "hdtrace/format/info.h"
#include "hdtrace/format/packed_file.h"
#include "merger/audit.h"
#include "merger/host_clocks.h"
#include "merger/input_reader.h"
#include "merger/inputs.h"
#include "merger/memory_file.h"
#include "merger/merged_project.h"
#include "merger/project_writer.h"
#include "merger/runs.h"
#include "merger/worlds.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include <unistd.h>

namespace hdtrace::merger {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view project_extension = ".proj";

/// Passes warnings on and keeps errors.
class Errors : public Report {
  public:
    explicit Errors(Report& report)
        : Report([this](const Diagnostic& message) { take(message); },
                 [&report](std::string_view doing, std::size_t done, std::size_t all) {
                     report.progress(doing, done, all);
                 }),
          m_report(report)
    {
    }

    void throw_any() const
    {
        if (!m_text.empty())
            throw MergeError(m_text);
    }
    void warn(Topic topic, const Place& place, const std::string& text) override
    {
        m_report.warn(topic, place, text);
    }

  private:
    void take(const Diagnostic& error)
    {
        m_text += (m_text.empty() ? "" : "; ") + error.place + ": " + error.text;
    }

    Report& m_report;
    std::string m_text;
};

/// What of a directory decides whether its project is still true.
struct DirectoryContents {
    std::vector<std::string> projects;
    std::optional<fs::file_time_type> newest_info;
};

DirectoryContents contents_of(const std::string& directory)
{
    DirectoryContents contents;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
        std::error_code ignored;
        if (!entry.is_regular_file(ignored))
            continue;
        if (entry.path().extension() == project_extension)
            contents.projects.push_back(entry.path().string());
        else if (entry.path().extension() == ".info" || detail::is_node_file(entry.path().string()))
            contents.newest_info = std::max(contents.newest_info, std::optional(entry.last_write_time()));
    }
    return contents;
}

std::int64_t checksum_of(const std::string& info)
{
    InfoReader reader(info);
    for (InfoLine line; reader.next(line);) {
    }
    return reader.checksum();
}

/// Whether the project was made of the .info files of a directory as they are: copies have other times.
bool is_made_of(const std::string& project, const std::string& directory)
{
    try {
        const auto expected = read_project(project).run.checksum;
        if (!expected)
            return false;
        Report unheard([](const Diagnostic&) {});
        std::int64_t found = 0;
        for (const InfoInput& input : find_inputs({directory}, unheard))
            if (!input.info.empty())
                found = joined_checksums(found, checksum_of(input.info));
        return found == *expected;
    } catch (const OpenError&) {
        return false; // that they are merged anew tells why
    } catch (const ReadError&) {
        return false;
    }
}

/// The project of a directory, if it has one that is still true.
std::optional<std::string> project_in(const std::string& directory, Report& report)
{
    const DirectoryContents contents = contents_of(directory);
    if (contents.projects.empty())
        return std::nullopt;
    if (contents.projects.size() > 1)
        throw MergeError(directory + ": here are " + std::to_string(contents.projects.size()) +
                         " projects: name one, such as " + contents.projects.front());
    const std::string& project = contents.projects.front();
    if (!contents.newest_info || *contents.newest_info <= fs::last_write_time(project) ||
        is_made_of(project, directory))
        return project;
    report.warn(Topic::old_projects, {project},
                "this is older than the traces beside it, which are merged anew");
    return std::nullopt;
}

bool is_named_project(const std::string& path)
{
    return path.ends_with(project_extension);
}

/// The project in a packed file.
std::string packed_project(const std::string& file)
{
    const std::vector<std::string> names = detail::packed_names(file);
    const auto found = std::ranges::find_if(names, is_named_project);
    if (found == names.end())
        throw MergeError(file + ": no project is in this packed file");
    return file + "/" + *found;
}

/// The one file that is no trace.
std::optional<std::string> project_among(const std::vector<std::string>& paths, Report& report)
{
    if (const auto project = std::ranges::find_if(paths, is_named_project);
        paths.size() > 1 && project != paths.end())
        throw MergeError(*project + ": name one project, or traces that were not merged yet");
    if (paths.size() != 1)
        return std::nullopt;
    const std::string& path = paths.front();
    std::error_code ignored;
    if (fs::is_directory(path, ignored))
        return project_in(path, report);
    const bool has_traces = is_trace_file(path) || detail::is_node_file(path);
    if (!has_traces && detail::is_packed_file(path))
        return packed_project(path);
    if (is_named_project(path) || (fs::exists(path, ignored) && !has_traces))
        return path;
    return std::nullopt;
}

/// Better than what a parser of XML says about a program or a table.
void refuse_other_files(const std::string& path)
{
    std::error_code ignored;
    if (is_named_project(path) || !fs::is_regular_file(path, ignored))
        return;
    std::ifstream file(path, std::ios::binary);
    char first = '<';
    file >> first;
    if (first != '<' && first != '\xEF') // a mark of the byte order may come first
        throw MergeError(
            path + ": neither a project nor a trace: name a .proj file, a folder, or .info and .trc files");
}

void check_existence(const std::vector<std::string>& paths)
{
    for (const std::string& path : paths) {
        if (is_trace_file(path) && !detail::is_in_node_file(path) && access(path.c_str(), R_OK) != 0)
            throw OpenError(path, errno);
    }
}

void check_members(const MergedProject& project, Report& report)
{
    if (const std::int64_t count = project.undescribed_members(); count > most_undescribed_members)
        report.error(project.name, "its communicators and windows have " + std::to_string(count) +
                                       " members that no file describes: project-merger --large merges them "
                                       "nevertheless");
}

ProjectText merge(const std::vector<std::string>& paths, Report& report)
{
    check_existence(paths);
    Errors errors(report);
    const Runs runs = by_run(find_inputs(paths, errors));
    errors.throw_any();
    if (runs.all.size() > 1)
        throw MergeError("the traces are of " + std::to_string(runs.all.size()) + " runs: " + list_of(runs) +
                         "; 'hdtrace merge' makes a project of each");
    warn_of_remains(runs, errors);
    const std::vector<InfoInput> inputs = by_world(runs.all.front());
    InputReader reader;
    MergedProject merged = unify(inputs, reader, errors);
    check_members(merged, errors);
    errors.throw_any();
    const TraceName& first = merged.processes.front().name;
    const std::string path = first.directory + first.base + std::string(project_extension);
    audit(merged, path, {.traces = Audited::nothing, .close_traces = false}, reader, errors);
    add_source_places(merged.call_sites, default_debug_directory, errors);
    ProjectOptions options;
    options.path = path;
    compare_clocks(merged, options, errors);
    const MemoryFile file;
    write_project(merged, options, file.descriptor());
    return {path, file.text()};
}

ProjectText read_text(const std::string& path)
{
    detail::File file(path);
    std::string text;
    std::array<char, 65536> part{};
    for (std::size_t count = 0; (count = file.read(part.data(), part.size())) > 0;)
        text.append(part.data(), count);
    if (file.error() != 0)
        throw OpenError(path, file.error());
    return {path, std::move(text)};
}

/// The project among the paths; nothing if they have to be merged.
std::optional<std::string> checked_project_among(const std::vector<std::string>& paths, Report& report)
{
    auto project = project_among(paths, report);
    if (project)
        refuse_other_files(*project);
    return project;
}

} // namespace

Project open_project(const std::vector<std::string>& paths, Report& report)
{
    try {
        if (const auto project = checked_project_among(paths, report))
            return read_project(*project);
        const ProjectText merged = merge(paths, report);
        return read_project_text(merged.path, merged.text);
    } catch (const fs::filesystem_error& error) {
        throw OpenError(error.path1().string(), error.code().value());
    }
}

ProjectText project_text(const std::vector<std::string>& paths, Report& report)
{
    try {
        const auto project = checked_project_among(paths, report);
        return project ? read_text(*project) : merge(paths, report);
    } catch (const fs::filesystem_error& error) {
        throw OpenError(error.path1().string(), error.code().value());
    }
}

std::vector<std::vector<std::string>> runs_in(const std::string& folder)
{
    Report nobody([](const Diagnostic&) {});
    std::vector<std::vector<std::string>> runs;
    for (const std::vector<InfoInput>& run : by_run(find_inputs({folder}, nobody)).all) {
        std::vector<std::string>& infos = runs.emplace_back();
        for (const InfoInput& input : run)
            if (!input.info.empty())
                infos.push_back(input.info);
    }
    return runs;
}

} // namespace hdtrace::merger
