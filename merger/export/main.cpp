// hdtrace-convert: writes a project in another format.

#include <cstdio>
#include <exception>

#include "hdtrace/format/proj_reader.h"
#include "hdtrace/matching/type_map.h"
#include "hdtrace/tools/unfinished.h"
#include "merger/export/command_line.h"
#include "merger/export/format.h"

namespace {

enum ExitCode { exit_fine = 0, exit_error = 1, exit_usage = 2 };

using namespace hdtrace::exporter;

void convert(const CommandLine& command)
{
    const hdtrace::Project project = hdtrace::read_project(command.project);
    check_output(project, command.options);
    Account account;
    command.format->convert(project, command.options, account);
    if (command.quiet)
        return;
    for (const std::string& line : account.lines())
        std::puts(line.c_str());
}

} // namespace

int main(int argc, char** argv)
{
    hdtrace::tools::handle_signals();
    std::string project;
    try {
        const CommandLine command = parse_command_line(argc, argv);
        if (command.show_version) {
            std::puts("hdtrace-convert (hdtrace) " HDTRACE_VERSION);
            return exit_fine;
        }
        project = command.project;
        convert(command);
        return exit_fine;
    } catch (const UsageError& error) {
        std::fprintf(stderr, "hdtrace-convert: %s\nTry 'hdtrace-convert --help'.\n", error.what());
        return exit_usage;
    } catch (const hdtrace::DatatypeError& error) {
        std::fprintf(stderr, "%s: error: %s\n", project.c_str(), error.what());
    } catch (const ConvertError& error) {
        std::fprintf(stderr, "%s: error: %s\n", project.c_str(), error.what());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "hdtrace-convert: error: %s\n", error.what());
    }
    return exit_error;
}
