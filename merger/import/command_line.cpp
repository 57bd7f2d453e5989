#include "merger/import/command_line.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <utility>

namespace hdtrace::importer {

using tools::UsageError;

namespace {

std::string names_of_sources()
{
    std::string names;
    for (const Source& source : sources())
        names += (names.empty() ? "" : ", ") + std::string(source.name);
    return names;
}

std::string descriptions_of_sources()
{
    std::string text = "Formats:";
    for (const Source& source : sources())
        text += "\n  " + std::string(source.name) + ": " + std::string(source.description);
    return text;
}

/// An option of a source and what was given for it.
struct GivenOption {
    SourceOption option;
    std::string help;
    std::string text = {};
};

std::deque<GivenOption> options_of_sources()
{
    std::deque<GivenOption> options; // they must not move
    for (const Source& source : sources())
        for (const SourceOption& option : source.options)
            options.push_back({option, std::string(source.name) + ": " + option.help});
    return options;
}

const Source* source_named(const std::string& name)
{
    const Source* const source = find_source(name);
    if (source == nullptr)
        throw UsageError("--from knows " + names_of_sources() + ", not '" + name + "'");
    return source;
}

} // namespace

tools::Request<CommandLine> parse_command_line(int argc, char** argv)
{
    CommandLine command;
    std::string source;
    std::deque<GivenOption> of_sources = options_of_sources();
    tools::OptionParser parser("hdtrace-import",
                               "Makes a project (app.proj, with its traces beside it) of traces that other "
                               "tools have written.",
                               descriptions_of_sources());
    parser.add_text("output", 'o', command.output, "APP.proj", "Write this project");
    parser.add_text("from", 'f', source, "FORMAT",
                    "The format of the files; otherwise they tell it themselves");
    for (GivenOption& given : of_sources)
        parser.add_text(given.option.name, 0, given.text, given.option.value, given.help.c_str());
    parser.add_switch("overwrite", 0, command.overwrite,
                      "Replace the project and its traces if they are there");
    parser.add_switch("quiet", 'q', command.quiet, "Do not tell what is approximated and dropped");
    parser.add_inputs(command.files, "FILE");
    if (auto answer = parser.parse(argc, argv))
        return std::move(*answer);
    if (!source.empty())
        command.source = source_named(source);
    for (const GivenOption& given : of_sources)
        if (!given.text.empty())
            command.options.emplace(given.option.name, given.text);
    if (command.output.empty())
        throw UsageError("the output is missing: -o APP.proj");
    if (std::filesystem::path(command.output).extension() != ".proj")
        throw UsageError("the name of a project ends with .proj, not as '" + command.output + "'");
    if (command.files.empty())
        throw UsageError("name a trace, such as traces.otf2");
    return command;
}

void check_options(const Source& source, const CommandLine& command)
{
    for (const auto& [name, text] : command.options) {
        if (!std::ranges::any_of(source.options, [&](const SourceOption& one) { return one.name == name; }))
            throw UsageError("--" + name + " is no option of " + std::string(source.name));
    }
}

} // namespace hdtrace::importer
