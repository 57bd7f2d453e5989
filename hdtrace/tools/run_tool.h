// run_tool.h - what main() does in every tool.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include "hdtrace/tools/option_parser.h"

namespace hdtrace::tools {

enum ExitCode { exit_fine = 0, exit_error = 1, exit_usage = 2 };

/// Does the work, which may throw UsageError and every other std::exception: these are told on standard
/// error. Also if a signal ends the program, output that is not finished is removed.
ExitCode run_tool(const std::string& tool, const std::function<ExitCode()>& work);

/// On standard output. Throws FileError.
void print(const Answer& answer);

/// Gives the answer that the command line asks for, or does the work.
template <class Options, class Work> ExitCode answer_or_work(const Request<Options>& request, Work work)
{
    if (const auto* options = std::get_if<Options>(&request))
        return work(*options);
    print(std::get<Answer>(request));
    return exit_fine;
}

} // namespace hdtrace::tools
