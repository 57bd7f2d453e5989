#include "merger/options.h"

#include <algorithm>

namespace hdtrace::merger {

namespace {

bool is_size(const std::string& text)
{
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::string suffix = text.substr(digits);
    return digits > 0 && (suffix.empty() || suffix == "K" || suffix == "M" || suffix == "G");
}

Compat compat_of(const std::string& name)
{
    if (name.empty())
        return Compat::none;
    if (name == "piosimhd")
        return Compat::piosimhd;
    throw tools::UsageError("--compat knows only piosimhd, not '" + name + "'");
}

void check(const Options& options)
{
    if (options.show_version)
        return;
    if (options.output.empty())
        throw tools::UsageError("the output is missing: -o FILE.proj");
    if (options.inputs.empty())
        throw tools::UsageError("there is no input: name .info files, the program, or a directory");
    if (!is_size(options.project.chunk_size))
        throw tools::UsageError("--chunk-size is a number of bytes with K, M or G behind it, not '" +
                                options.project.chunk_size + "'");
    if (options.project.distribution_class.empty())
        throw tools::UsageError("--distribution-class is empty");
}

} // namespace

Options parse_options(int argc, char** argv)
{
    Options options;
    char* output = nullptr;
    char* description = nullptr;
    char* distribution_class = nullptr;
    char* chunk_size = nullptr;
    char* compat = nullptr;
    char** inputs = nullptr;
    gboolean overwrite = FALSE;
    gboolean quiet = FALSE;
    gboolean no_audit = FALSE;
    gboolean no_repair = FALSE;
    gboolean version = FALSE;
    // All texts are taken as file names, so that the locale does not matter.
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "Write the project to FILE", "FILE"},
        {"description", 'd', 0, G_OPTION_ARG_FILENAME, &description, "What the run was about", "TEXT"},
        {"distribution-class", 0, 0, G_OPTION_ARG_FILENAME, &distribution_class,
         "How the simulator distributes files over servers (default SimpleStripe, with its full name)",
         "CLASS"},
        {"chunk-size", 0, 0, G_OPTION_ARG_FILENAME, &chunk_size,
         "Size of the pieces in which it does so (default 64K)", "SIZE"},
        {"compat", 0, 0, G_OPTION_ARG_FILENAME, &compat,
         "Write only what another program can load: piosimhd, the original tools", "PROGRAM"},
        {"overwrite", 0, 0, G_OPTION_ARG_NONE, &overwrite, "Replace FILE if it is there", nullptr},
        {"no-audit", 0, 0, G_OPTION_ARG_NONE, &no_audit, "Do not read the .trc files to check them", nullptr},
        {"no-repair", 0, 0, G_OPTION_ARG_NONE, &no_repair, "Leave .trc files that are cut off as they are",
         nullptr},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "Do not print warnings", nullptr},
        {"version", 0, 0, G_OPTION_ARG_NONE, &version, "Show the version and exit", nullptr},
        {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &inputs, nullptr, "INPUT..."},
        {},
    };
    const tools::OptionContext context(g_option_context_new(nullptr));
    g_option_context_set_summary(
        context.get(), "Unifies the objects of all processes of a traced program into one project.\n\n"
                       "INPUT is an .info or .trc file, a directory with such files, or their names up to\n"
                       "the first '_', which is the program.");
    g_option_context_add_main_entries(context.get(), entries, nullptr);
    GError* error = nullptr;
    g_option_context_parse(context.get(), &argc, &argv, &error);

    options.output = tools::take_text(output);
    options.project.description = tools::take_text(description);
    options.project.distribution_class =
        tools::take_text(distribution_class, options.project.distribution_class);
    options.project.chunk_size = tools::take_text(chunk_size, options.project.chunk_size);
    const std::string compat_name = tools::take_text(compat);
    options.overwrite = overwrite;
    options.quiet = quiet;
    options.audit.read_traces = !no_audit;
    options.audit.close_traces = !no_repair;
    options.show_version = version;
    options.inputs = tools::take_texts(inputs);
    tools::throw_if(error);
    options.project.compat = compat_of(compat_name);
    check(options);
    return options;
}

} // namespace hdtrace::merger
