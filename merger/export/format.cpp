#include "merger/export/format.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "hdtrace/format/compressed.h"
#include "hdtrace/format/packed_file.h"
#include "merger/export/registry.h"

namespace hdtrace::exporter {

// The row of each folder.
#define HDT_FORMAT(name) Format name##_format();
#include "formats.inc"
#undef HDT_FORMAT

const std::vector<Format>& formats()
{
    static const std::vector<Format> all = {
#define HDT_FORMAT(name) name##_format(),
#include "formats.inc"
#undef HDT_FORMAT
    };
    return all;
}

std::string Options::text(std::string_view option) const
{
    const auto found = of_format.find(option);
    return found == of_format.end() ? std::string() : found->second;
}

namespace {

std::vector<std::string> inputs_of(const Project& project)
{
    std::vector<std::string> inputs = {detail::place_of(project.path).path};
    for (const std::string& trace : project.trace_paths()) {
        inputs.push_back(detail::existing_name(trace));
        inputs.push_back(std::filesystem::path(trace).replace_extension(".info"));
    }
    return inputs;
}

} // namespace

void check_processes(const Project& project)
{
    std::size_t described = project.leaves.size();
    for (const Communicator& communicator : project.communicators)
        described = std::max(described, communicator.members.size());
    if (project.process_count < 0 || static_cast<std::uint64_t>(project.process_count) > described)
        throw ConvertError("the project says that it has " + std::to_string(project.process_count) +
                           " processes, but describes " + std::to_string(described));
}

void check_output(const Project& project, const Options& options)
{
    std::error_code ignored;
    const std::filesystem::path output = options.output;
    if (!std::filesystem::exists(std::filesystem::symlink_status(output, ignored)))
        return;
    for (const std::string& input : inputs_of(project)) {
        if (std::filesystem::equivalent(input, output, ignored))
            throw ConvertError(options.output + " belongs to the trace and will not be replaced");
    }
    if (!std::filesystem::is_regular_file(output, ignored))
        throw ConvertError(options.output + " exists, and is no file that is replaced: give another name");
    if (!options.overwrite)
        throw ConvertError(options.output + " exists; --overwrite replaces it");
}

const Format* find_format(std::string_view name)
{
    return find_named(formats(), name);
}

} // namespace hdtrace::exporter
