#include "merger/audit.h"

#include "hdtrace/format/compressed.h"
#include "hdtrace/format/errors.h"
#include "hdtrace/format/repair.h"
#include "hdtrace/format/trc_reader.h"
#include "merger/input_reader.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <utility>

namespace hdtrace::merger {

namespace fs = std::filesystem;

namespace {

constexpr const char* object_names[object_kinds] = {"communicator", "datatype", "file", "window"};

struct Reference {
    std::string_view attribute;
    Object object;
};

/// What refers to objects: our names, then those of older traces.
constexpr Reference references[] = {
    {"cid", communicators},   {"newcid", communicators}, {"comm", communicators}, {"tid", datatypes},
    {"recvtid", datatypes},   {"etid", datatypes},       {"filetid", datatypes},  {"oldTid", datatypes},
    {"targetTid", datatypes}, {"type", datatypes},       {"sendTid", datatypes},  {"recvTid", datatypes},
    {"recvType", datatypes},  {"etype", datatypes},      {"filetype", datatypes}, {"from_type", datatypes},
    {"fid", files},           {"file", files},           {"wid", windows},
};

void warn_of_missing_trace(const std::string& path, Report& report)
{
    report.warn(Topic::missing_traces, {path}, "this trace is missing");
}

/// Reads one trace and compares it with what the process describes.
class TraceAudit {
  public:
    TraceAudit(const TraceJob& job, Report& report) : m_job(job), m_report(report) {}

    void run()
    {
        try {
            TrcReader reader(m_job.path);
            State state;
            while (reader.next(state)) {
                m_line = static_cast<std::uint64_t>(state.line);
                check(state);
                ++m_top_level;
            }
            if (!reader.complete())
                m_report.warn(Topic::cut_off_traces, {m_job.path},
                              "the trace is cut off after " + std::to_string(m_states) +
                                  " states: " + reader.missing() + " is missing" + close(reader));
        } catch (const ReadError& error) {
            m_report.warn(Topic::broken_traces, {error.file(), static_cast<std::uint64_t>(error.line())},
                          "the trace is broken: " + error.reason());
        } catch (const OpenError& error) {
            if (error.code() == std::errc::no_such_file_or_directory)
                warn_of_missing_trace(m_job.path, m_report);
            else
                m_report.warn(Topic::unreadable_traces, {m_job.path}, error.code().message());
        }
        for (int object = 0; object < object_kinds; ++object)
            warn_of_unknown(static_cast<Object>(object));
    }

  private:
    /// What became of a trace that was cut off.
    std::string close(const TrcReader& reader) const
    {
        if (!m_job.may_close)
            return {};
        try {
            close_trace(m_job.path, reader, m_top_level);
            return "; it was closed, the original is kept as " + m_job.path + original_suffix;
        } catch (const std::exception& error) {
            return std::string("; it cannot be closed: ") + error.what();
        }
    }

    struct Unknown {
        std::set<std::int64_t> ids;
        std::int64_t first = 0;
        std::uint64_t line = 0;
    };

    void check(const State& state)
    {
        if (!state.is_event)
            ++m_states;
        if (m_job.has_objects) {
            check_attributes(state);
            std::ranges::for_each(state.children, [this](const Element& child) { check_attributes(child); });
        }
        std::ranges::for_each(state.nested, [this](const State& nested) { check(nested); });
    }

    void check_attributes(const Element& element)
    {
        for (const Attribute& attribute : element.attributes) {
            const auto* reference = std::ranges::find(references, attribute.name, &Reference::attribute);
            if (reference != std::end(references))
                check_reference(reference->object, attribute.value);
        }
    }

    void check_reference(Object object, const std::string& value)
    {
        std::int64_t id = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), id);
        if (error != std::errc{} || end != value.data() + value.size() || id == null_id)
            return;
        if (std::ranges::binary_search(m_job.known_ids[object], id))
            return;
        Unknown& unknown = m_unknown[object];
        if (unknown.ids.empty()) {
            unknown.first = id;
            unknown.line = m_line;
        }
        if (unknown.ids.size() < most_unknown_ids)
            unknown.ids.insert(id);
    }

    void warn_of_unknown(Object object)
    {
        const Unknown& unknown = m_unknown[object];
        if (unknown.ids.empty())
            return;
        const std::string what = object_names[object];
        std::string text =
            what + " " + std::to_string(unknown.first) + " is used, but not described in the .info";
        if (unknown.ids.size() > 1)
            text += " (and " + std::to_string(unknown.ids.size() - 1) + " more " + what + "s)";
        m_report.warn(Topic::undescribed_objects, {m_job.path, unknown.line}, text);
    }

    static constexpr std::size_t most_unknown_ids = 1000;

    const TraceJob& m_job;
    Report& m_report;
    Unknown m_unknown[object_kinds];
    std::uint64_t m_states = 0;
    std::uint64_t m_top_level = 0; ///< states and events
    std::uint64_t m_line = 0;
};

/// Directories that are the same compare equal, however they are spelled.
std::string canonical_directory(std::string_view path)
{
    const std::string_view directory = directory_of(path);
    std::error_code ignored;
    return fs::weakly_canonical(directory.empty() ? "." : directory, ignored).string();
}

/// Readers look for the traces beside the project, under its name.
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
        if (process.name.base == stem && directory_fits)
            continue;
        TraceName expected = process.name;
        expected.directory = directory_of(output);
        expected.base = stem;
        expected.labels.push_back(process.threads.front());
        report.warn(Topic::unfindable_traces, {output},
                    "readers will look for " + expected.path(".trc") +
                        ": to be found, the project has to be " + process.name.directory + process.name.base +
                        ".proj");
        return;
    }
}

TraceJob trace_job(const MergedProject& project, const MergedProcess& process, const std::string& thread,
                   const AuditOptions& options)
{
    TraceJob job;
    job.path = detail::existing_name(process.trace_path(thread));
    job.has_objects = project.levels.has_ranks && !process.infos.empty();
    job.may_close = options.close_traces;
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
    for (const LostStates& lost : process.lost)
        report.warn(Topic::lost_states, lost.place,
                    std::to_string(lost.count) + " states of thread " + std::to_string(lost.thread) +
                        " were lost while tracing: the disk may have been full");
}

void look_for_traces(const MergedProject& project, Report& report)
{
    for (const MergedProcess& process : project.processes) {
        warn_of_lost_states(process, report);
        for (const std::string& thread : process.threads) {
            const std::string path = detail::existing_name(process.trace_path(thread));
            std::error_code ignored;
            if (!fs::exists(path, ignored))
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
    const auto job_at = [&](std::size_t i) {
        return trace_job(project, *traces[i].first, *traces[i].second, options);
    };
    reader.expect_traces(traces.size(), job_at);
    const MergedProcess* last = nullptr;
    for (std::size_t i = 0; i < traces.size(); ++i) {
        report.progress("checking traces", i, traces.size());
        if (const MergedProcess* process = traces[i].first; std::exchange(last, process) != process)
            warn_of_lost_states(*process, report);
        reader.audit_trace(job_at(i), report);
    }
}

} // namespace

void audit_trace(const TraceJob& job, Report& report)
{
    TraceAudit(job, report).run();
}

void audit(const MergedProject& project, const std::string& output, const AuditOptions& options,
           InputReader& reader, Report& report)
{
    check_output_name(project, output, report);
    if (options.read_traces)
        read_traces(project, options, reader, report);
    else
        look_for_traces(project, report);
}

} // namespace hdtrace::merger
