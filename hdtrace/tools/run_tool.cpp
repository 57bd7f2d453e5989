#include "hdtrace/tools/run_tool.h"

#include <cstdio>
#include <exception>

#include <glib.h>

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
    g_print("%s", answer.text.c_str()); // GLib translates what it wrote for the help
}

} // namespace hdtrace::tools
