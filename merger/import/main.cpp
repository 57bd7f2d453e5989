// hdtrace-import: makes a project of traces that other tools have written.

#include <cstdio>
#include <stdexcept>
#include <string>

#include "hdtrace/tools/permissions.h"
#include "hdtrace/tools/printable.h"
#include "hdtrace/tools/progress_line.h"
#include "hdtrace/tools/run_tool.h"
#include "merger/export/registry.h"
#include "merger/import/command_line.h"
#include "merger/import/project.h"
#include "merger/import/source.h"

namespace {

using namespace hdtrace;
using namespace hdtrace::importer;

constexpr const char* tool = "hdtrace-import";

/// Whoever may not read the traces may not read what they are made into.
void keep_private(const CommandLine& command)
{
    tools::CommonPermissions permissions(command.output);
    for (const std::string& file : command.files)
        permissions.add(file);
    permissions.restrict_umask();
}

/// The files are not where the messages say for long.
std::string with_final_names(std::string text, const exporter::OutputDirectory& directory)
{
    const std::string temporary = directory.temporary_path().string() + "/";
    for (std::size_t at = 0; (at = text.find(temporary, at)) != std::string::npos;)
        text.erase(at, temporary.size());
    return text;
}

void merge(const exporter::OutputDirectory& directory, const CommandLine& command,
           tools::ProgressLine& progress)
{
    merger::Report report(
        [&](const merger::Diagnostic& message) {
            progress.clear();
            const std::string line = with_final_names(to_line(message, tool), directory);
            if (!command.quiet || message.severity == merger::Diagnostic::Severity::error)
                std::fprintf(stderr, "%s\n", tools::printable(line).c_str());
        },
        [&](std::string_view doing, std::size_t done, std::size_t all) { progress.show(doing, done, all); });
    write_project(directory, command.output, report);
    progress.clear();
    report.finish();
    if (report.has_errors())
        throw ImportError(command.output + " has not been written");
}

tools::ExitCode run(const CommandLine& command)
{
    check_place(command.output, command.overwrite);
    const Source& source = command.source ? *command.source : source_of(command.files);
    exporter::check_options(source, command.options);
    keep_private(command);
    tools::ProgressLine progress(tool, !command.quiet);
    const exporter::OutputDirectory directory(command.output, exporter::OutputDirectory::Place::may_be_taken);
    const std::string program = std::filesystem::path(command.output).stem().string();
    Traces traces(directory, program, file_base_of(command.output));
    exporter::Account account;
    source.import({command.files, command.options, traces, account,
                   [&](std::string_view doing, std::size_t done, std::size_t all) {
                       progress.show(doing, done, all);
                   }});
    progress.clear();
    if (traces.processes() == 0)
        throw ImportError(command.files.front() + ": there is no process in it");
    merge(directory, command, progress);
    move_to_place(directory, command.output, command.overwrite);
    if (command.quiet)
        return tools::exit_fine;
    for (const std::string& line : account.lines())
        std::puts(tools::printable(line).c_str());
    return tools::exit_fine;
}

} // namespace

int main(int argc, char** argv)
{
    return tools::run_tool(tool, [&] { return tools::answer_or_work(parse_command_line(argc, argv), run); });
}
