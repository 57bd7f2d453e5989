// Any bytes as the .info files of a few processes, separated by lines `%%`: they are merged into a project
// that is valid and can be read, or refused.
#include "hdtrace/format/proj_reader.h"
#include "hdtrace/format/validate.h"
#include "hdtrace/tools/output_file.h"
#include "merger/audit.h"
#include "merger/input_reader.h"
#include "merger/inputs.h"
#include "merger/merged_project.h"
#include "merger/project_writer.h"
#include "merger/serialization.h"
#include "tests/fuzz/input_folder.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace hdtrace::merger {
namespace {

constexpr std::size_t most_processes = 4;
/// Larger programs take too long to write.
constexpr std::int64_t most_members = 20'000;

/// Reads as if another process did it.
class SerializingReader : public InputReader {
    void read_info(std::string_view path, ProcessInfo& info, Report& report) override
    {
        if (info.paths.empty())
            apply_read_info(read_info_encoded(std::string(path)), path, info, report);
        else
            InputReader::read_info(path, info, report);
    }
};

std::vector<std::string> write_processes(const fuzz::InputFolder& folder, std::string_view text)
{
    std::vector<std::string> paths;
    do {
        const std::string name = "app_host_" + std::to_string(paths.size()) + "_0.info";
        paths.push_back(folder.write(name, fuzz::take_part(text)));
    } while (!text.empty() && paths.size() < most_processes);
    return paths;
}

std::int64_t members(const MergedProject& project)
{
    std::int64_t count = project.process_count;
    for (const MergedCommunicator& communicator : project.communicators)
        count += communicator.map.size() + communicator.remote.size();
    for (const MergedWindow& window : project.windows)
        count += window.map.size();
    return count;
}

void check_project(const std::string& path, const MergedProject& project)
{
    for (const hdtrace::Problem& problem : validate(path)) {
        std::fprintf(stderr, "%s\n", to_string(problem).c_str());
        std::abort();
    }
    const hdtrace::Project read = read_project(path);
    if (read.process_count != project.process_count || read.files.size() != project.files.size() ||
        read.communicators.size() != project.communicators.size() ||
        read.datatypes.size() != project.processes.size())
        std::abort();
}

void write_and_check(const MergedProject& project, const std::string& path)
{
    ProjectOptions options;
    try {
        tools::OutputFile output(path);
        write_project(project, options, output.descriptor());
        output.commit(true);
    } catch (const std::invalid_argument&) {
        return;
    }
    check_project(path, project);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const fuzz::InputFolder folder;
    SerializingReader reader;
    Report report([](const Diagnostic&) {});
    const auto inputs = find_inputs(write_processes(folder, fuzz::as_text(data, size)), report);
    const MergedProject project = unify(inputs, reader, report);
    if (report.has_errors() || members(project) > most_members)
        return 0;
    const std::string path = folder.path_of("app.proj");
    audit(project, path, {.traces = Audited::nothing}, reader, report);
    write_and_check(project, path);
    return 0;
}

} // namespace hdtrace::merger
