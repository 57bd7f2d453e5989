#include "merger/export/command_line.h"

#include <deque>
#include <utility>
#include <vector>

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

/// The option of a format and what was given for it.
struct GivenOption {
    const Format* format;
    FormatOption option;
    std::string help;
    std::string text = {};
};

std::deque<GivenOption> options_of_formats()
{
    std::deque<GivenOption> options; // they must not move
    for (const Format& format : formats())
        for (const FormatOption& option : format.options)
            options.push_back({&format, option, std::string(format.name) + ": " + option.help});
    return options;
}

void take_options(const std::deque<GivenOption>& given, CommandLine& command)
{
    for (const auto& [format, option, help, text] : given) {
        if (text.empty())
            continue;
        if (format != command.format)
            throw UsageError("--" + std::string(option.name) + " is an option of " +
                             std::string(format->name));
        command.options.of_format.emplace(option.name, text);
    }
}

} // namespace

tools::Request<CommandLine> parse_command_line(int argc, char** argv)
{
    CommandLine command;
    std::string format;
    std::deque<GivenOption> of_formats = options_of_formats();
    tools::OptionParser parser("hdtrace-convert",
                               "Writes a project (app.proj) in a format of other tools. Traces that were not "
                               "merged yet are merged for it.",
                               descriptions_of_formats());
    parser.add_text("to", 't', format, "FORMAT", "The format");
    parser.add_text("output", 'o', command.options.output, "OUT", "Write to OUT");
    for (GivenOption& given : of_formats)
        parser.add_text(given.option.name, 0, given.text, given.option.value, given.help.c_str());
    parser.add_switch("overwrite", 0, command.options.overwrite, "Replace OUT if it is there");
    parser.add_switch("quiet", 'q', command.quiet, "Do not tell what is approximated and dropped");
    parser.add_inputs(command.inputs, "PROJECT");
    if (auto answer = parser.parse(argc, argv))
        return std::move(*answer);
    command.format = format_of(format);
    take_options(of_formats, command);
    if (command.options.output.empty())
        throw UsageError("the output is missing: -o OUT");
    if (command.inputs.empty())
        throw UsageError("name a project, such as app.proj, or a directory with traces");
    return command;
}

} // namespace hdtrace::exporter
