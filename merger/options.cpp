#include "merger/options.h"

#include <algorithm>
#include <utility>

namespace hdtrace::merger {

namespace {

bool is_size(const std::string& text)
{
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const std::string suffix = text.substr(digits);
    return digits > 0 && (suffix.empty() || suffix == "K" || suffix == "M" || suffix == "G");
}

/// Throws UsageError.
void check(const Options& options)
{
    if (options.inputs.empty())
        throw tools::UsageError("there is no input: name .info files, the program, or a directory");
    if (!is_size(options.project.chunk_size))
        throw tools::UsageError("--chunk-size is a number of bytes with K, M or G behind it, not '" +
                                options.project.chunk_size + "'");
}

} // namespace

tools::Request<Options> parse_options(int argc, char** argv)
{
    Options options;
    std::string compat;
    bool no_audit = false;
    bool audit_ends = false;
    bool no_repair = false;
    bool no_sources = false;
    bool no_clocks = false;
    tools::OptionParser parser(
        "project-merger",
        "Unifies the objects of all processes of a traced program into one project.\n\n"
        "INPUT is an .info or .trc file, a directory with such files, or their names up to\n"
        "the first '_', which is the program.");
    parser.add_text(
        "output", 'o', options.output, "FILE",
        "Write the project to FILE (default: beside the traces, with their name; one for each run)");
    parser.add_free_text("description", 'd', options.project.description, "TEXT", "What the run was about");
    parser.add_text(
        "distribution-class", 0, options.project.distribution_class, "CLASS",
        "How the simulator distributes files over servers (default SimpleStripe, with its full name)");
    parser.add_text("chunk-size", 0, options.project.chunk_size, "SIZE",
                    "Size of the pieces in which it does so (default 64K)");
    parser.add_text("compat", 0, compat, "PROGRAM", "Is now hdtrace convert --to piosimhd -o DIR PROJECT");
    parser.add_switch("overwrite", 0, options.overwrite, "Replace FILE if it is there");
    parser.add_switch("large", 0, options.large,
                      "Write more than a million members of communicators that no file describes");
    parser.add_switch("no-audit", 0, no_audit, "Do not read the .trc files to check them");
    parser.add_switch("audit-ends", 0, audit_ends, "Read only the ends of .trc files that are whole");
    parser.add_switch("no-repair", 0, no_repair, "Leave .trc files that are cut off as they are");
    parser.add_switch("no-sources", 0, no_sources,
                      "Do not look for the lines of calls in programs and libraries");
    parser.add_switch("no-clocks", 0, no_clocks,
                      "Do not read the .trc files to compare the clocks of hosts, if there are several");
    parser.add_text("debug-directory", 0, options.debug_directory, "DIR",
                    "Where debug information is that is not in them (default /usr/lib/debug)");
    parser.add_switch("quiet", 'q', options.quiet, "Do not print warnings");
    parser.add_inputs(options.inputs, "INPUT...");
    if (auto answer = parser.parse(argc, argv))
        return std::move(*answer);
    if (!compat.empty())
        throw tools::UsageError(
            "--compat is gone: 'hdtrace convert --to piosimhd -o DIR PROJECT' writes what "
            "the original tools load");
    if (no_audit && audit_ends)
        throw tools::UsageError("--no-audit and --audit-ends exclude each other");
    if (no_sources && options.debug_directory != default_debug_directory)
        throw tools::UsageError("--no-sources and --debug-directory exclude each other");
    options.audit.traces = no_audit ? Audited::nothing : audit_ends ? Audited::ends : Audited::all;
    options.audit.close_traces = !no_repair;
    options.find_sources = !no_sources;
    options.compare_clocks = !no_clocks;
    check(options);
    return options;
}

} // namespace hdtrace::merger
