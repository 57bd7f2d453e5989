#include "merger/tool.h"

#include "hdtrace/format/compressed.h"
#include "hdtrace/format/packed_file.h"
#include "hdtrace/format/sums.h"
#include "hdtrace/tools/output_file.h"
#include "hdtrace/tools/permissions.h"
#include "hdtrace/tools/printable.h"
#include "hdtrace/tools/progress_line.h"
#include "hdtrace/tools/run_tool.h"
#include "merger/audit.h"
#include "merger/host_clocks.h"
#include "merger/input_reader.h"
#include "merger/inputs.h"
#include "merger/merged_project.h"
#include "merger/options.h"
#include "merger/project_writer.h"
#include "merger/runs.h"
#include "merger/worlds.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace fs = std::filesystem;

namespace hdtrace::merger {

namespace {

constexpr const char* tool = "project-merger";

void print(const Diagnostic& message)
{
    std::fprintf(stderr, "%s\n", tools::printable(to_line(message, tool)).c_str());
}

bool is_same_file(const std::string& a, const std::string& b)
{
    std::error_code ignored;
    return fs::equivalent(a, b, ignored);
}

/// Whether the predicate holds for one of the inputs; the rest is not looked at.
template <class Predicate> bool any_input(const MergedProject& project, Predicate predicate)
{
    for (const MergedProcess& process : project.processes) {
        for (const std::string& info : process.infos) {
            if (predicate(info))
                return true;
        }
        for (const std::string& thread : process.threads) {
            const std::string trace = detail::existing_name(process.trace_path(thread));
            if (predicate(trace) || predicate(sums_path(trace)))
                return true;
        }
    }
    return false;
}

/// Reports why the output must not or cannot be written, before much time is spent.
void check_output(const std::string& output, bool overwrite, const MergedProject& project, Report& report)
{
    const std::string directory(directory_of(output));
    if (access(directory.empty() ? "." : directory.c_str(), W_OK) != 0) {
        report.error(output, std::strerror(errno));
        return;
    }
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(output, ignored)))
        return;
    if (!fs::is_regular_file(output, ignored))
        report.error(output, "this is not a regular file and will not be replaced");
    else if (any_input(project, [&](const std::string& input) { return is_same_file(output, input); }))
        report.error(output, "this is a trace and will not be replaced");
    else if (!overwrite)
        report.error(output, "the file exists; --overwrite replaces it");
}

/// Whoever may not read the traces may not read what they are made into.
void keep_private(const std::string& output, const MergedProject& project)
{
    tools::CommonPermissions permissions(output);
    any_input(project, [&](const std::string& input) {
        permissions.add(detail::place_of(input).path);
        return permissions.permit_nothing();
    });
    permissions.restrict_umask();
}

void write_output(const ProjectOptions& options, bool overwrite, const MergedProject& project, Report& report)
{
    try {
        tools::OutputFile output(options.path);
        write_project(project, options, output.descriptor());
        output.commit(overwrite);
    } catch (const std::system_error& error) {
        report.error(options.path, error.code().message());
    } catch (const std::invalid_argument& error) {
        report.error(options.path, error.what());
    }
}

void check_size(const std::string& output, bool is_large, const MergedProject& project, Report& report)
{
    const std::int64_t count = project.undescribed_members();
    if (count > most_undescribed_members && !is_large)
        report.error(output, "the communicators and windows would have " + std::to_string(count) +
                                 " members that no file describes; --large writes them nevertheless");
}

/// Beside the traces, with their name; of several runs with the same name each gets another one.
std::string usual_output(const MergedProject& project, std::set<std::string>& taken)
{
    const TraceName& first = project.processes.front().name;
    const std::string stem = first.directory + first.base;
    std::string output = stem + ".proj";
    for (int number = 2; !taken.insert(output).second; ++number)
        output = stem + "-" + std::to_string(number) + ".proj";
    return output;
}

/// Each stage needs the one before to be without errors.
void merge_run(const std::vector<InfoInput>& inputs, const Options& options, std::set<std::string>& outputs,
               InputReader& reader, Report& report)
{
    MergedProject project = unify(inputs, reader, report);
    if (report.has_errors())
        return;
    const std::string output = options.output.empty() ? usual_output(project, outputs) : options.output;
    check_output(output, options.overwrite, project, report);
    check_size(output, options.large, project, report);
    if (report.has_errors())
        return;
    audit(project, output, options.audit, reader, report);
    if (options.find_sources)
        add_source_places(project.call_sites, options.debug_directory, report);
    ProjectOptions project_options = options.project;
    project_options.path = output;
    if (options.compare_clocks)
        compare_clocks(project, project_options, report);
    report.progress("writing", 0, 0);
    keep_private(output, project);
    write_output(project_options, options.overwrite, project, report);
    if (options.output.empty() && !report.has_errors())
        std::printf("%s\n", tools::printable(output).c_str());
}

void merge(const Options& options, InputReader& reader, Report& report)
{
    const std::vector<InfoInput> inputs = find_inputs(options.inputs, report);
    if (report.has_errors())
        return;
    const Runs runs = by_run(inputs);
    if (runs.all.size() > 1 && !options.output.empty())
        report.error(options.output, "the inputs are of " + std::to_string(runs.all.size()) +
                                         " runs: " + list_of(runs) +
                                         "; without -o each run gets a project beside its traces");
    warn_of_remains(runs, report);
    std::set<std::string> outputs;
    for (const std::vector<InfoInput>& run : runs.all) {
        if (report.has_errors())
            return;
        merge_run(by_world(run), options, outputs, reader, report);
    }
}

tools::ExitCode run(const Options& options, InputReader& reader)
{
    tools::ProgressLine progress(tool, !options.quiet);
    Report report(
        [&](const Diagnostic& message) {
            if (options.quiet && message.severity != Diagnostic::Severity::error)
                return;
            progress.clear();
            print(message);
        },
        [&](std::string_view doing, std::size_t done, std::size_t all) { progress.show(doing, done, all); });
    merge(options, reader, report);
    progress.clear();
    report.finish();
    return report.has_errors() ? tools::exit_error : tools::exit_fine;
}

} // namespace

int run_merger(int argc, char** argv, InputReader& reader)
{
    return tools::run_tool(tool, [&] {
        return tools::answer_or_work(parse_options(argc, argv),
                                     [&](const Options& options) { return run(options, reader); });
    });
}

} // namespace hdtrace::merger
