#include "hdtrace/tools/run_tool.h"

#include <cerrno>
#include <cstdio>
#include <exception>

#include <glib.h>

#include "hdtrace/tools/file_error.h"
#include "hdtrace/tools/printable.h"
#include "hdtrace/tools/unfinished.h"

namespace hdtrace::tools {

ExitCode run_tool(const std::string& tool, const std::function<ExitCode()>& work)
{
    handle_signals();
    try {
        return work();
    } catch (const UsageError& error) {
        std::fprintf(stderr, "%s: %s\nTry '%s --help'.\n", tool.c_str(), printable(error.what()).c_str(),
                     tool.c_str());
        return exit_usage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: error: %s\n", tool.c_str(), printable(error.what()).c_str());
        return exit_error;
    }
}

void print(const Answer& answer)
{
    errno = 0;
    g_print("%s", answer.text.c_str()); // GLib translates what it wrote for the help
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        throw FileError("standard output", errno);
}

} // namespace hdtrace::tools
