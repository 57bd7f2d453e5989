// hdtrace-convert: writes a project in another format.

#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "hdtrace/format/compressed.h"
#include "hdtrace/format/left_out.h"
#include "hdtrace/format/merged_traces.h"
#include "hdtrace/format/packed_file.h"
#include "hdtrace/format/proj_reader.h"
#include "hdtrace/format/traces.h"
#include "hdtrace/matching/type_map.h"
#include "hdtrace/tools/permissions.h"
#include "hdtrace/tools/printable.h"
#include "hdtrace/tools/progress_line.h"
#include "hdtrace/tools/run_tool.h"
#include "merger/export/command_line.h"
#include "merger/export/format.h"
#include "merger/open_project.h"

namespace {

using namespace hdtrace;
using namespace hdtrace::exporter;

constexpr const char* tool = "hdtrace-convert";

/// Whoever may not read the traces may not read what they are made into.
void keep_private(const std::string& output, const Project& project)
{
    tools::CommonPermissions permissions(output);
    permissions.add(detail::place_of(project.path).path);
    for (const std::string& trace : project.trace_paths())
        permissions.add(detail::place_of(detail::existing_name(trace)).path);
    permissions.restrict_umask();
}

Project open(const CommandLine& command, tools::ProgressLine& progress)
{
    merger::Report report(
        [&](const merger::Diagnostic& message) {
            progress.clear();
            if (!command.quiet)
                std::fprintf(stderr, "%s\n", tools::printable(to_line(message, tool)).c_str());
        },
        [&](std::string_view doing, std::size_t done, std::size_t all) { progress.show(doing, done, all); });
    Project project = merger::open_project(command.inputs, report);
    report.finish();
    return project;
}

/// Nothing is known of the calls behind the place where a trace was cut off.
void note_what_was_cut_off(const Project& project, Account& account)
{
    std::vector<TraceFile> traces = traces_of(project);
    std::erase_if(traces, [](const TraceFile& trace) { return !detail::is_there_in_some_form(trace.path); });
    Selection only_ends;
    only_ends.interval.begin = std::numeric_limits<std::int64_t>::max();
    MergedTraces ends(std::move(traces), only_ends);
    while (ends.next() != nullptr) {
    }
    const std::vector<MissingEnd> missing = ends.missing();
    if (missing.size() == 1)
        account.note("a trace was cut off: " + to_string(missing.front()));
    else if (!missing.empty())
        account.note(std::to_string(missing.size()) +
                     " traces were cut off; the first: " + to_string(missing.front()));
}

void convert(const CommandLine& command)
{
    tools::ProgressLine progress(tool, !command.quiet);
    const Project project = open(command, progress);
    progress.clear();
    check_processes(project);
    check_output(project, command.options);
    keep_private(command.options.output, project);
    Account account;
    if (const std::string text = LeftOut(project).text(); !text.empty())
        account.note(text);
    command.format->convert(project, command.options, account);
    if (command.quiet)
        return;
    note_what_was_cut_off(project, account);
    for (const std::string& line : account.lines())
        std::puts(tools::printable(line).c_str());
}

tools::ExitCode fail(const std::string& project, const std::exception& error)
{
    const std::string line = project + ": error: " + error.what();
    std::fprintf(stderr, "%s\n", tools::printable_lines(line).c_str());
    return tools::exit_error;
}

/// These errors do not say themselves which project they are about.
tools::ExitCode run(const CommandLine& command)
{
    try {
        convert(command);
        return tools::exit_fine;
    } catch (const ConvertError& error) {
        return fail(command.inputs.front(), error);
    } catch (const DatatypeError& error) {
        return fail(command.inputs.front(), error);
    }
}

} // namespace

int main(int argc, char** argv)
{
    return tools::run_tool(tool, [&] { return tools::answer_or_work(parse_command_line(argc, argv), run); });
}
