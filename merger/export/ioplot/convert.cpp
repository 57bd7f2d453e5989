// The format of the ioplots tools: `rank op offset length start_time end_time`.

#include <charconv>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hdtrace/tools/option_parser.h"
#include "hdtrace/tools/output_file.h"
#include "merger/export/format.h"
#include "merger/export/ioplot/access_log.h"
#include "merger/export/output_directory.h"
#include "merger/export/processes.h"

namespace hdtrace::exporter {

namespace {

/// Whether the second of two words was chosen; the first one is the default. Throws UsageError.
bool is_second(const Options& options, std::string_view option, std::string_view first,
               std::string_view second)
{
    const std::string given = options.text(option);
    if (!given.empty() && given != first && given != second)
        throw tools::UsageError("--" + std::string(option) + " is " + std::string(first) + " or " +
                                std::string(second) + ", not '" + given + "'");
    return given == second;
}

/// Throws UsageError.
std::int64_t number_or(const Options& options, std::string_view option, std::int64_t otherwise)
{
    const std::string text = options.text(option);
    if (text.empty())
        return otherwise;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0)
        throw tools::UsageError("--" + std::string(option) + " is a number, not '" + text + "'");
    return number;
}

/// Those that are so called, a part of the name behind a '/' is enough; all if there is no name.
std::vector<const ProjectFile*> files_called(const Project& project, const std::string& name)
{
    std::vector<const ProjectFile*> found;
    for (const ProjectFile& file : project.files) {
        if (name.empty() || file.name == name || file.name.ends_with("/" + name))
            found.push_back(&file);
    }
    if (project.files.empty())
        throw ConvertError("the program used no file");
    if (found.empty())
        throw ConvertError("the program used no file " + name);
    return found;
}

const ProjectFile& only_file(const std::vector<const ProjectFile*>& files)
{
    if (files.size() == 1)
        return *files[0];
    std::string names;
    for (const ProjectFile* file : files)
        names += "\n  " + file->name;
    throw ConvertError(
        "a log is of one file; choose with --file, or take --files=all for a directory with a log of each:" +
        names);
}

/// The last part of a file's name, made different from those before.
class LogNames {
  public:
    std::string name_of(const ProjectFile& file)
    {
        const std::string base = file.name.substr(file.name.rfind('/') + 1);
        std::string name = base;
        for (int& number = m_numbers[base];
             name.empty() || name == "." || name == ".." || !m_taken.insert(name).second;)
            name = base + "." + std::to_string(++number + 1);
        return name;
    }

  private:
    std::set<std::string> m_taken;
    std::map<std::string, int> m_numbers; ///< that have been tried with a name
};

void write_logs(const Project& project, LogForm form, Logs& logs, Account& account)
{
    const ObjectTable objects(project);
    AccessLog log(objects, form, logs, account);
    MergedTraces calls(traces_of(project), all_calls());
    EventWalk({&log}).add_all(calls);
    log.finish();
    for (auto& [ignored, output] : logs)
        output.flush();
}

void write_one(const Project& project, const ProjectFile& file, LogForm form, const Options& options,
               Account& account)
{
    tools::OutputFile output_file(options.output);
    Logs logs;
    logs.emplace(&file, TextOutput([&](std::string_view text) { output_file.write(text); }));
    write_logs(project, form, logs, account);
    output_file.commit(options.overwrite);
}

void write_each(const Project& project, const std::vector<const ProjectFile*>& files, LogForm form,
                const Options& options, Account& account)
{
    OutputDirectory directory(options.output);
    std::deque<DirectoryFile> log_files; // they must not move
    LogNames names;
    Logs logs;
    constexpr std::size_t most_open = 256;
    for (const ProjectFile* file : files) {
        DirectoryFile& log_file =
            log_files.emplace_back(directory, names.name_of(*file), files.size() <= most_open);
        logs.emplace(file, TextOutput([&](std::string_view text) { log_file.write(text); }));
    }
    write_logs(project, form, logs, account);
    for (DirectoryFile& log_file : log_files)
        log_file.close();
    directory.commit();
}

void convert_to_ioplot(const Project& project, const Options& options, Account& account)
{
    const LogForm form = {.one_line_per_operation = is_second(options, "lines", "pieces", "operations"),
                          .most_pieces = number_or(options, "most-pieces", LogForm().most_pieces),
                          .as_wtime = is_second(options, "times", "run", "wtime")};
    const bool wants_all = is_second(options, "files", "one", "all");
    const std::vector<const ProjectFile*> files = files_called(project, options.text("file"));
    if (wants_all)
        write_each(project, files, form, options, account);
    else
        write_one(project, only_file(files), form, options, account);
}

} // namespace

Format ioplot_format()
{
    return {
        "ioplot",
        "a file with a line for each contiguous piece of a file that was read or written",
        convert_to_ioplot,
        {{"file", "NAME", "the file that is wanted, if the program used several"},
         {"files", "one|all", "all: OUT is a directory with a log of each file"},
         {"lines", "pieces|operations", "what has a line of its own: a contiguous piece, or an operation"},
         {"most-pieces", "N", "how many pieces there may be besides the first of each operation (10000000)"},
         {"times", "run|wtime", "since the first call of the run, or as MPI_Wtime told them"}}};
}

} // namespace hdtrace::exporter
