#include "merger/import/project.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "hdtrace/tools/file_error.h"
#include "hdtrace/tools/rename_to_new.h"
#include "hdtrace/tools/signals_blocked.h"
#include "merger/import/source.h"
#include "merger/input_reader.h"
#include "merger/inputs.h"
#include "merger/merged_project.h"
#include "merger/project_writer.h"
#include "merger/trace_name.h"

namespace fs = std::filesystem;

namespace hdtrace::importer {

namespace {

fs::path directory_of(const std::string& project)
{
    const fs::path directory = fs::path(project).parent_path();
    return directory.empty() ? "." : directory;
}

bool is_there(const fs::path& path)
{
    std::error_code ignored;
    return fs::exists(fs::symlink_status(path, ignored));
}

/// Files that a merger of the directory would take for traces of the same program.
std::vector<fs::path> traces_beside(const std::string& project)
{
    std::vector<fs::path> traces;
    const std::string base = file_base_of(project) + "_";
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory_of(project), error)) {
        if (entry.path().filename().string().starts_with(base) &&
            merger::is_trace_file(entry.path().string()))
            traces.push_back(entry.path());
    }
    if (error)
        throw tools::FileError(directory_of(project), error.value());
    return traces;
}

std::vector<fs::path> files_in(const fs::path& directory)
{
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory))
        files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

/// The descriptor of the project before it is in its place.
class ProjectFile {
  public:
    explicit ProjectFile(const fs::path& path)
        : m_path(path), m_descriptor(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666))
    {
        if (m_descriptor < 0)
            throw tools::FileError(m_path, errno);
    }
    ProjectFile(const ProjectFile&) = delete;
    ProjectFile& operator=(const ProjectFile&) = delete;
    ~ProjectFile()
    {
        if (m_descriptor >= 0)
            ::close(m_descriptor);
    }
    int descriptor() const { return m_descriptor; }
    void close()
    {
        if (::close(std::exchange(m_descriptor, -1)) != 0)
            throw tools::FileError(m_path, errno);
    }

  private:
    std::string m_path;
    int m_descriptor;
};

/// With @p overwrite what is there is replaced.
void move_file(const fs::path& from, const fs::path& to, bool overwrite)
{
    if ((overwrite ? std::rename : tools::rename_to_new)(from.c_str(), to.c_str()) != 0)
        throw tools::FileError(to, errno);
}

} // namespace

std::string file_base_of(const std::string& project)
{
    return merger::file_label(fs::path(project).stem().string());
}

void check_place(const std::string& project, bool overwrite)
{
    std::error_code ignored;
    if (is_there(project) && !fs::is_regular_file(project, ignored))
        throw ImportError(project + " exists, and is no file that is replaced: give another name");
    if (is_there(project) && !overwrite)
        throw ImportError(project + " exists; --overwrite replaces it");
    const std::vector<fs::path> traces = traces_beside(project);
    if (!traces.empty() && !overwrite)
        throw ImportError(traces.front().string() + " exists; --overwrite replaces it");
}

void write_project(const exporter::OutputDirectory& directory, const std::string& project,
                   merger::Report& report)
{
    const std::vector<merger::InfoInput> inputs =
        merger::find_inputs({directory.temporary_path().string()}, report);
    if (report.has_errors())
        return;
    merger::InputReader reader;
    const merger::MergedProject merged = merger::unify(inputs, reader, report);
    if (report.has_errors())
        return;
    merger::ProjectOptions options;
    options.path = directory.temporary_path() / fs::path(project).filename();
    ProjectFile file(options.path);
    merger::write_project(merged, options, file.descriptor());
    file.close();
}

void move_to_place(const exporter::OutputDirectory& directory, const std::string& project, bool overwrite)
{
    std::vector<fs::path> files = files_in(directory.temporary_path());
    const fs::path name = fs::path(project).filename();
    std::ranges::partition(files, [&](const fs::path& file) { return file.filename() != name; });
    const auto is_new = [&](const fs::path& path) {
        return std::ranges::none_of(files,
                                    [&](const fs::path& file) { return file.filename() == path.filename(); });
    };
    for (const fs::path& trace : traces_beside(project))
        if (is_new(trace))
            throw ImportError(trace.string() +
                              " has the name of a trace of this project, but is of another one");
    const tools::SignalsBlocked until_all_are_there;
    std::vector<std::pair<fs::path, fs::path>> moved;
    try {
        for (const fs::path& file : files) {
            const fs::path place = directory_of(project) / file.filename();
            move_file(file, place, overwrite);
            moved.emplace_back(file, place);
        }
    } catch (const tools::FileError&) {
        for (const auto& [file, place] : moved) {
            std::error_code ignored;
            fs::rename(place, file, ignored);
        }
        throw;
    }
}

} // namespace hdtrace::importer
