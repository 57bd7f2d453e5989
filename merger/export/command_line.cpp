#include "merger/export/command_line.h"

#include <utility>

#include "merger/export/registry.h"

namespace hdtrace::exporter {

using tools::UsageError;

namespace {

const Format* format_of(const std::string& name)
{
    if (name.empty())
        throw UsageError("the format is missing: --to " + names_of(formats()));
    const Format* format = find_format(name);
    if (format == nullptr)
        throw UsageError("--to knows " + names_of(formats()) + ", not '" + name + "'");
    return format;
}

} // namespace

tools::Request<CommandLine> parse_command_line(int argc, char** argv)
{
    CommandLine command;
    std::string format;
    FormatOptions of_formats(formats());
    tools::OptionParser parser("hdtrace-convert",
                               "Writes a project (app.proj) in a format of other tools. Traces that were not "
                               "merged yet are merged for it.",
                               descriptions_of(formats()));
    parser.add_text("to", 't', format, "FORMAT", "The format");
    parser.add_text("output", 'o', command.options.output, "OUT", "Write to OUT");
    of_formats.add_to(parser);
    parser.add_switch("overwrite", 0, command.options.overwrite, "Replace OUT if it is a file that is there");
    parser.add_switch("quiet", 'q', command.quiet, "Do not tell what is approximated and dropped");
    parser.add_inputs(command.inputs, "PROJECT");
    if (auto answer = parser.parse(argc, argv))
        return std::move(*answer);
    command.format = format_of(format);
    command.options.of_format = of_formats.given();
    check_options(*command.format, command.options.of_format);
    if (command.options.output.empty())
        throw UsageError("the output is missing: -o OUT");
    if (command.inputs.empty())
        throw UsageError("name a project, such as app.proj, or a directory with traces");
    return command;
}

} // namespace hdtrace::exporter
