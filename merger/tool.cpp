#include "merger/tool.h"

#include "hdtrace/tools/output_file.h"
#include "hdtrace/tools/unfinished.h"
#include "merger/audit.h"
#include "merger/input_reader.h"
#include "merger/inputs.h"
#include "merger/options.h"
#include "merger/project.h"
#include "merger/project_writer.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace fs = std::filesystem;

namespace hdtrace::merger {

namespace {

enum ExitCode { exit_fine = 0, exit_error = 1, exit_usage = 2 };

void print(const Message& message)
{
    const bool is_error = message.severity == Message::Severity::error;
    const std::string place = message.place.empty() ? "project-merger" : message.place;
    std::fprintf(stderr, "%s: %s: %s\n", place.c_str(), is_error ? "error" : "warning", message.text.c_str());
}

/// The last line of a terminal, which says how far we are.
class ProgressLine {
  public:
    explicit ProgressLine(bool on_terminal) : m_on_terminal(on_terminal) {}

    void show(std::string_view doing, std::size_t done, std::size_t all)
    {
        const auto now = std::chrono::steady_clock::now();
        if (!m_on_terminal || (done > 0 && now - m_shown_at < std::chrono::milliseconds(100)))
            return;
        m_shown_at = now;
        m_is_shown = true;
        std::fprintf(stderr, "\rproject-merger: %.*s", static_cast<int>(doing.size()), doing.data());
        if (all > 0)
            std::fprintf(stderr, " %zu of %zu", done, all);
        std::fputs("\x1b[K", stderr);
    }

    void clear()
    {
        if (std::exchange(m_is_shown, false))
            std::fputs("\r\x1b[K", stderr);
    }

  private:
    bool m_on_terminal;
    bool m_is_shown = false;
    std::chrono::steady_clock::time_point m_shown_at;
};

bool is_same_file(const std::string& a, const std::string& b)
{
    std::error_code ignored;
    return fs::equivalent(a, b, ignored);
}

bool is_input(const std::string& output, const Project& project)
{
    for (const Process& process : project.processes) {
        for (const std::string& info : process.infos) {
            if (is_same_file(output, info))
                return true;
        }
        for (const std::string& thread : process.threads) {
            if (is_same_file(output, process.trace_path(thread)))
                return true;
        }
    }
    return false;
}

/// Reports why the output must not or cannot be written, before much time is spent.
void check_output(const Options& options, const Project& project, Report& report)
{
    const std::string directory(directory_of(options.output));
    if (access(directory.empty() ? "." : directory.c_str(), W_OK) != 0) {
        report.error(options.output, std::strerror(errno));
        return;
    }
    std::error_code ignored;
    if (!fs::exists(options.output, ignored))
        return;
    if (!fs::is_regular_file(options.output, ignored))
        report.error(options.output, "this is not a regular file and will not be replaced");
    else if (is_input(options.output, project))
        report.error(options.output, "this is a trace and will not be replaced");
    else if (!options.overwrite)
        report.error(options.output, "the file exists; --overwrite replaces it");
}

void write_output(const Options& options, const Project& project, Report& report)
{
    try {
        tools::OutputFile output(options.output);
        write_project(project, options.project, output.descriptor());
        output.commit();
    } catch (const std::system_error& error) {
        report.error(options.output, error.code().message());
    } catch (const std::invalid_argument& error) {
        report.error(options.output, error.what());
    }
}

/// Each stage needs the one before to be without errors.
void merge(const Options& options, InputReader& reader, Report& report)
{
    const std::vector<InfoInput> inputs = find_inputs(options.inputs, report);
    if (report.has_errors())
        return;
    const Project project = unify(inputs, reader, report);
    check_output(options, project, report);
    if (report.has_errors())
        return;
    audit(project, options.output, options.audit, reader, report);
    report.progress("writing", 0, 0);
    write_output(options, project, report);
}

int run(const Options& options, InputReader& reader)
{
    ProgressLine progress(!options.quiet && isatty(STDERR_FILENO) == 1);
    Report report(
        [&](const Message& message) {
            if (options.quiet && message.severity != Message::Severity::error)
                return;
            progress.clear();
            print(message);
        },
        [&](std::string_view doing, std::size_t done, std::size_t all) { progress.show(doing, done, all); });
    merge(options, reader, report);
    progress.clear();
    report.finish();
    return report.has_errors() ? exit_error : exit_fine;
}

} // namespace

int run_tool(int argc, char** argv, InputReader& reader)
{
    tools::handle_signals();
    try {
        const Options options = parse_options(argc, argv);
        if (options.show_version) {
            std::puts("project-merger (hdtrace) " HDTRACE_VERSION);
            return exit_fine;
        }
        return run(options, reader);
    } catch (const tools::UsageError& error) {
        std::fprintf(stderr, "project-merger: %s\nTry 'project-merger --help'.\n", error.what());
        return exit_usage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "project-merger: error: %s\n", error.what());
        return exit_error;
    }
}

} // namespace hdtrace::merger
