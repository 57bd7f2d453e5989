#include "merger/upkeep/project_files.h"

#include "hdtrace/format/errors.h"
#include "hdtrace/node_file_form.h"
#include "hdtrace/segments.h"
#include "hdtrace/trace_form.h"
#include "merger/trace_name.h"

#include <filesystem>
#include <set>
#include <system_error>
#include <unordered_set>
#include <utility>

namespace hdtrace::merger {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view info_extension = ".info";

/// What names of the files of a thread's trace may end with.
std::vector<std::string> trace_endings()
{
    std::vector<std::string> endings = {".stats", ".index"}; // in the place of a trace, and beside it
    std::vector<std::string> forms = {".trc"};
    for (const Compression form : compressed_forms)
        forms.push_back(forms.front() + suffix_of(form));
    for (const std::string& form : forms) {
        for (int segment = 0; segment < segment_count; ++segment) {
            const std::string file = form + (segment == 0 ? "" : "." + std::to_string(segment));
            endings.insert(endings.end(), {file, file + ".orig"});
        }
    }
    return endings;
}

/// The names of regular files, and links to some, in a directory; none if it cannot be read.
std::unordered_set<std::string> names_in(const std::string& directory)
{
    std::unordered_set<std::string> names;
    std::error_code error;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(directory.empty() ? "." : directory, error)) {
        if (entry.is_regular_file(error))
            names.insert(entry.path().filename().string());
    }
    return names;
}

std::string normal(const std::string& path)
{
    return fs::path(path).lexically_normal().string();
}

/// Fills the list of a project's files.
class Collector {
  public:
    explicit Collector(ProjectFiles& result) : m_result(result), m_endings(trace_endings()) {}

    void add_trace(const std::string& path, std::size_t levels)
    {
        const auto name = split_trace_name(path, levels);
        if (!name)
            return;
        NamedFile file = {name->directory, name->base, "", ""};
        file.labels = name->path("").substr(file.prefix().size());
        if (m_prefixes.insert(file.prefix()).second)
            m_result.prefixes.push_back(file.prefix());
        for (const std::string& ending : m_endings)
            add(file, ending);
        add(file, std::string(info_extension)); // older tracers made one for each thread
        file.labels.replace(file.labels.rfind('_'), std::string::npos, "_0");
        add(file, std::string(info_extension));
        if (levels == mpi_levels.size()) {
            file.labels.resize(file.labels.find('_', 1)); // the host
            add(file, node_file_suffix);
        }
    }

    void add_project(const std::string& path)
    {
        NamedFile file = {m_result.directory, path.substr(m_result.directory.size()), "", ""};
        if (!file.base.ends_with(project_extension))
            return;
        file.base.resize(file.base.size() - project_extension.size());
        add(file, std::string(project_extension));
    }

  private:
    void add(NamedFile file, const std::string& ending)
    {
        const auto [names, is_new] = m_names.try_emplace(file.directory);
        if (is_new)
            names->second = names_in(file.directory);
        file.ending = ending;
        const std::string path = file.path();
        if (names->second.contains(path.substr(file.directory.size())) && m_paths.insert(path).second)
            m_result.files.push_back(std::move(file));
    }

    ProjectFiles& m_result;
    const std::vector<std::string> m_endings;
    std::map<std::string, std::unordered_set<std::string>> m_names; ///< in each directory
    std::unordered_set<std::string> m_paths;
    std::set<std::string> m_prefixes;
};

void collect_traces(const Project& project, Collector& collector)
{
    for (const std::string& trace : project.trace_paths())
        collector.add_trace(normal(trace), project.levels.size());
}

/// Of what is called as a project, which may be anything.
std::set<std::string> files_led_to(const std::string& path)
{
    ProjectFiles files;
    Collector collector(files);
    try {
        collect_traces(read_project(path), collector);
    } catch (const ReadError&) {
    } catch (const OpenError&) {
    }
    std::set<std::string> paths;
    for (const NamedFile& file : files.files)
        paths.insert(file.path());
    return paths;
}

void find_shared(const std::string& project, ProjectFiles& result)
{
    for (const std::string& name : names_in(result.directory)) {
        const std::string other = result.directory + name;
        if (other == project || !name.ends_with(project_extension))
            continue;
        const std::set<std::string> led_to = files_led_to(other);
        for (const NamedFile& file : result.files) {
            if (led_to.contains(file.path()))
                result.shared.try_emplace(file.path(), other);
        }
    }
}

} // namespace

std::vector<std::string> ProjectFiles::elsewhere() const
{
    std::set<std::string> others;
    for (const NamedFile& file : files) {
        if (file.directory != directory)
            others.insert(file.directory);
    }
    return {others.begin(), others.end()};
}

ProjectFiles files_of(const Project& project)
{
    const std::string path = normal(project.path);
    ProjectFiles result;
    result.directory = directory_of(path);
    Collector collector(result);
    collect_traces(project, collector);
    collector.add_project(path);
    find_shared(path, result);
    return result;
}

} // namespace hdtrace::merger
