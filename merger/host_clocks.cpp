#include "merger/host_clocks.h"

#include <algorithm>
#include <exception>
#include <string>

#include "hdtrace/explaining/clocks.h"
#include "merger/memory_file.h"

namespace hdtrace::merger {
namespace {

bool has_several_hosts(const MergedProject& project)
{
    const auto& levels = project.levels.names;
    const auto level = static_cast<std::size_t>(std::ranges::find(levels, "Hostname") - levels.begin());
    const auto host = [&](const MergedProcess& process) {
        return level < process.name.labels.size() ? process.name.labels[level] : std::string();
    };
    return level < levels.size() && std::ranges::any_of(project.processes, [&](const MergedProcess& process) {
               return host(process) != host(project.processes.front());
           });
}

} // namespace

// The readers of traces need a project.
void compare_clocks(MergedProject& project, const ProjectOptions& options, Report& report)
{
    if (!has_several_hosts(project))
        return;
    report.progress("comparing clocks", 0, 0);
    try {
        const MemoryFile file;
        write_project(project, options, file.descriptor());
        project.clocks = hdtrace::compare_clocks(OpenedProject(read_project_text(options.path, file.text())));
    } catch (const std::exception& error) { // the project is of use without it
        report.warn(Topic::clocks, {options.path},
                    std::string("the clocks of the hosts are not compared: ") + error.what());
    }
}

} // namespace hdtrace::merger
