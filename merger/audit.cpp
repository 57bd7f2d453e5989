#include "merger/audit.h"

#include "hdtrace/format/compressed.h"
#include "hdtrace/format/packed_file.h"
#include "hdtrace/format/sums.h"
#include "merger/input_reader.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace hdtrace::merger {

namespace fs = std::filesystem;

namespace {

/// Where a project does not tell where its traces are, readers look beside it, under its name.
void check_output_name(const MergedProject& project, const std::string& output, Report& report)
{
    const std::string stem = fs::path(output).stem().string();
    const std::string directory = canonical_directory(output);
    std::string_view last_directory;
    bool directory_fits = true;
    for (const MergedProcess& process : project.processes) {
        if (process.name.directory != last_directory || &process == &project.processes.front()) {
            last_directory = process.name.directory;
            directory_fits = canonical_directory(last_directory) == directory;
        }
        if ((project.has_worlds() || process.name.base == stem) && directory_fits)
            continue;
        TraceName expected = process.name;
        expected.directory = directory_of(output);
        expected.base = project.has_worlds() ? process.name.base : stem;
        expected.labels.push_back(process.threads.front());
        report.warn(Topic::unfindable_traces, {output},
                    "readers will look for " + expected.path(".trc") +
                        ": to be found, the project has to be " + process.name.directory +
                        (project.has_worlds() ? stem : process.name.base) + ".proj");
        return;
    }
}

/// As its process tells; nothing if it does not, or not clearly.
std::optional<std::int64_t> written_states(const MergedProcess& process, const std::string& thread)
{
    const std::optional<std::int64_t> number = label_number(thread);
    std::optional<std::int64_t> states;
    for (const TraceEnd& end : process.ends) {
        if (end.thread != number)
            continue;
        if (states)
            return {};
        states = end.states;
    }
    return states;
}

TraceJob trace_job(const MergedProject& project, const MergedProcess& process, const std::string& thread,
                   const AuditOptions& options)
{
    TraceJob job;
    job.path = detail::existing_name(process.trace_path(thread));
    job.has_objects = project.levels.has_ranks && !process.infos.empty() && !process.lacks_objects;
    job.only_end = options.traces == Audited::ends;
    job.may_close = options.close_traces && !detail::is_in_node_file(job.path);
    if (project.levels.has_ranks)
        job.written_states = written_states(process, thread);
    job.known_ids[communicators] = process.communicator_ids;
    job.known_ids[files] = process.file_ids;
    job.known_ids[windows] = process.window_ids;
    for (const DescribedDatatype* datatype : process.datatypes)
        job.known_ids[datatypes].push_back(datatype->id);
    std::ranges::sort(job.known_ids[datatypes]);
    return job;
}

void warn_of_lost_states(const MergedProcess& process, Report& report)
{
    for (const TraceEnd& end : process.ends) {
        const std::string thread = " of thread " + std::to_string(end.thread);
        if (end.lost_states > 0)
            report.warn(Topic::lost_states, end.place,
                        std::to_string(end.lost_states) + " states" + thread +
                            " were lost while tracing: they could not be written, as when the disk is full");
        if (end.refused_calls > 0)
            report.warn(Topic::lost_states, end.place,
                        std::to_string(end.refused_calls) + " calls" + thread +
                            " to the trace library failed: what they were given is missing in the trace");
    }
}

void look_for_traces(const MergedProject& project, Report& report)
{
    for (const MergedProcess& process : project.processes) {
        warn_of_lost_states(process, report);
        for (const std::string& thread : process.threads) {
            const std::string path = detail::existing_name(process.trace_path(thread));
            if (!detail::is_there(path) && !has_only_sums(path))
                warn_of_missing_trace(path, report);
        }
    }
}

void read_traces(const MergedProject& project, const AuditOptions& options, InputReader& reader,
                 Report& report)
{
    std::vector<std::pair<const MergedProcess*, const std::string*>> traces;
    for (const MergedProcess& process : project.processes) {
        for (const std::string& thread : process.threads)
            traces.emplace_back(&process, &thread);
    }
    reader.expect_traces(traces.size(), [&](std::size_t i) {
        return trace_job(project, *traces[i].first, *traces[i].second, options);
    });
    const MergedProcess* last = nullptr;
    for (std::size_t i = 0; i < traces.size(); ++i) {
        report.progress("checking traces", i, traces.size());
        if (const MergedProcess* process = traces[i].first; std::exchange(last, process) != process)
            warn_of_lost_states(*process, report);
        reader.audit_next_trace(report);
    }
}

} // namespace

void audit(const MergedProject& project, const std::string& output, const AuditOptions& options,
           InputReader& reader, Report& report)
{
    if (!project.levels.has_ranks)
        check_output_name(project, output, report);
    if (options.traces != Audited::nothing)
        read_traces(project, options, reader, report);
    else
        look_for_traces(project, report);
}

} // namespace hdtrace::merger
