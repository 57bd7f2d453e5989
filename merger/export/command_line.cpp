#include "merger/export/command_line.h"

#include <cmath>
#include <utility>
#include <vector>

#include <glib.h>

namespace hdtrace::exporter {

using tools::UsageError;

namespace {

std::string names_of_formats()
{
    std::string names;
    for (const Format& format : formats())
        names += (names.empty() ? "" : ", ") + std::string(format.name);
    return names;
}

std::string descriptions_of_formats()
{
    std::string text = "Formats:";
    for (const Format& format : formats())
        text += "\n  " + std::string(format.name) + ": " + std::string(format.description);
    return text;
}

const Format* format_of(const std::string& name)
{
    if (name.empty())
        throw UsageError("the format is missing: --to " + names_of_formats());
    const Format* format = find_format(name);
    if (format == nullptr)
        throw UsageError("--to knows " + names_of_formats() + ", not '" + name + "'");
    return format;
}

double speed_of(const std::string& text, double otherwise)
{
    if (text.empty())
        return otherwise;
    char* end = nullptr;
    const double speed = g_ascii_strtod(text.c_str(), &end);
    if (*end != '\0' || !std::isfinite(speed) || speed <= 0)
        throw UsageError("--speed is a number of operations per second such as 2.5e9, not '" + text + "'");
    return speed;
}

} // namespace

tools::Request<CommandLine> parse_command_line(int argc, char** argv)
{
    CommandLine command;
    std::string format;
    std::string speed;
    std::vector<std::string> projects;
    tools::OptionParser parser("hdtrace-convert", "Writes a project (app.proj) in a format of other tools.",
                               descriptions_of_formats());
    parser.add_text("to", 't', format, "FORMAT", "The format");
    parser.add_text("output", 'o', command.options.output, "OUT", "Write to OUT");
    parser.add_text("file", 0, command.options.file, "NAME",
                    "ioplot: the file that is wanted, if the program used several");
    parser.add_text("speed", 0, speed, "FLOPS",
                    "tit: operations per second of the processor that was traced (default 1e9)");
    parser.add_switch("overwrite", 0, command.options.overwrite, "Replace OUT if it is there");
    parser.add_switch("quiet", 'q', command.quiet, "Do not tell what is approximated and dropped");
    parser.add_inputs(projects, "PROJECT");
    if (auto answer = parser.parse(argc, argv))
        return std::move(*answer);
    command.format = format_of(format);
    command.options.speed = speed_of(speed, command.options.speed);
    if (command.options.output.empty())
        throw UsageError("the output is missing: -o OUT");
    if (projects.size() != 1)
        throw UsageError("name one project, such as app.proj");
    command.project = projects[0];
    return command;
}

} // namespace hdtrace::exporter
