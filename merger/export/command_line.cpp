#include "merger/export/command_line.h"

#include <cmath>

namespace hdtrace::exporter {

using tools::take_text;

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

CommandLine parse_command_line(int argc, char** argv)
{
    char* format = nullptr;
    char* output = nullptr;
    char* file = nullptr;
    char* speed = nullptr;
    char** inputs = nullptr;
    gboolean overwrite = FALSE;
    gboolean quiet = FALSE;
    gboolean version = FALSE;
    // All texts are taken as file names, so that the locale does not matter.
    const GOptionEntry entries[] = {
        {"to", 't', 0, G_OPTION_ARG_FILENAME, &format, "The format", "FORMAT"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "Write to OUT", "OUT"},
        {"file", 0, 0, G_OPTION_ARG_FILENAME, &file,
         "ioplot: the file that is wanted, if the program used several", "NAME"},
        {"speed", 0, 0, G_OPTION_ARG_FILENAME, &speed,
         "tit: operations per second of the processor that was traced (default 1e9)", "FLOPS"},
        {"overwrite", 0, 0, G_OPTION_ARG_NONE, &overwrite, "Replace OUT if it is there", nullptr},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "Do not tell what is approximated and dropped", nullptr},
        {"version", 0, 0, G_OPTION_ARG_NONE, &version, "Show the version and exit", nullptr},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &inputs, nullptr, "PROJECT"},
        {},
    };
    const tools::OptionContext context(g_option_context_new(nullptr));
    g_option_context_set_summary(context.get(), "Writes a project (app.proj) in a format of other tools.");
    g_option_context_set_description(context.get(), descriptions_of_formats().c_str());
    g_option_context_add_main_entries(context.get(), entries, nullptr);
    GError* error = nullptr;
    g_option_context_parse(context.get(), &argc, &argv, &error);

    const std::vector<std::string> projects = tools::take_texts(inputs);
    const std::string format_name = take_text(format);
    const std::string speed_text = take_text(speed);
    CommandLine command;
    command.options.output = take_text(output);
    command.options.file = take_text(file);
    command.options.overwrite = overwrite;
    command.quiet = quiet;
    command.show_version = version;
    tools::throw_if(error);
    if (command.show_version)
        return command;
    command.format = format_of(format_name);
    command.options.speed = speed_of(speed_text, command.options.speed);
    if (command.options.output.empty())
        throw UsageError("the output is missing: -o OUT");
    if (projects.size() != 1)
        throw UsageError("name one project, such as app.proj");
    command.project = projects[0];
    return command;
}

} // namespace hdtrace::exporter
