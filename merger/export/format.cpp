#include "merger/export/format.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

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
    const auto found = std::ranges::find(formats(), name, &Format::name);
    return found == formats().end() ? nullptr : &*found;
}

} // namespace hdtrace::exporter
