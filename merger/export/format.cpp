#include "merger/export/format.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

namespace hdtrace::exporter {

namespace {

constexpr Format all_formats[] = {
    {"ioplot", "a file with a line for each contiguous piece of a file that was read or written",
     convert_to_ioplot},
    {"tit", "a directory for SimGrid: smpirun -np N -platform PLATFORM -replay OUT/replay.txt",
     convert_to_tit},
#ifdef HDTRACE_OTF2
    {"otf2", "a directory with an archive of the Open Trace Format 2: OUT/traces.otf2", convert_to_otf2},
#endif
};

} // namespace

std::span<const Format> formats()
{
    return all_formats;
}

void check_output(const Project& project, const Options& options)
{
    std::error_code ignored;
    const std::filesystem::path output = options.output;
    if (!std::filesystem::exists(output, ignored))
        return;
    std::vector<std::string> inputs = project.trace_paths();
    inputs.push_back(project.path);
    for (const std::string& input : inputs) {
        if (std::filesystem::equivalent(input, output, ignored))
            throw ConvertError(options.output + " belongs to the trace and will not be replaced");
    }
    if (!options.overwrite)
        throw ConvertError(options.output + " exists; --overwrite replaces it");
    if (!std::filesystem::is_regular_file(output, ignored))
        throw ConvertError(options.output + " is not a regular file and will not be replaced");
}

const Format* find_format(std::string_view name)
{
    const auto found = std::ranges::find(all_formats, name, &Format::name);
    return found == std::end(all_formats) ? nullptr : found;
}

} // namespace hdtrace::exporter
