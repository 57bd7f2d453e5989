#include "merger/import/command_line.h"

#include <filesystem>
#include <utility>

#include "merger/export/registry.h"

namespace hdtrace::importer {

using exporter::descriptions_of, exporter::names_of;
using tools::UsageError;

namespace {

const Source* source_named(const std::string& name)
{
    const Source* const source = find_source(name);
    if (source == nullptr)
        throw UsageError("--from knows " + names_of(sources()) + ", not '" + name + "'");
    return source;
}

} // namespace

tools::Request<CommandLine> parse_command_line(int argc, char** argv)
{
    CommandLine command;
    std::string source;
    exporter::FormatOptions of_sources(sources());
    tools::OptionParser parser("hdtrace-import",
                               "Makes a project (app.proj, with its traces beside it) of traces that other "
                               "tools have written.",
                               descriptions_of(sources()));
    parser.add_text("output", 'o', command.output, "APP.proj", "Write this project");
    parser.add_text("from", 'f', source, "FORMAT",
                    "The format of the files; otherwise they tell it themselves");
    of_sources.add_to(parser);
    parser.add_switch("overwrite", 0, command.overwrite,
                      "Replace the project and its traces if they are there");
    parser.add_switch("quiet", 'q', command.quiet, "Do not tell what is approximated and dropped");
    parser.add_inputs(command.files, "FILE");
    if (auto answer = parser.parse(argc, argv))
        return std::move(*answer);
    if (!source.empty())
        command.source = source_named(source);
    command.options = of_sources.given();
    if (command.output.empty())
        throw UsageError("the output is missing: -o APP.proj");
    if (std::filesystem::path(command.output).extension() != ".proj")
        throw UsageError("the name of a project ends with .proj, not as '" + command.output + "'");
    if (command.files.empty())
        throw UsageError("name a trace, such as traces.otf2");
    return command;
}

} // namespace hdtrace::importer
