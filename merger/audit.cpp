#include "merger/audit.h"

#include "hdtrace/reader/errors.h"
#include "hdtrace/reader/trc_reader.h"
#include "merger/trace_repair.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

namespace hdtrace::merger {

namespace fs = std::filesystem;

namespace {

enum Object { communicators, datatypes, files, windows, object_kinds };

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

/// Reads one trace and compares it with what the process describes.
class TraceAudit {
  public:
    TraceAudit(const Process& process, std::string path, bool has_objects, bool may_close, Report& report)
        : m_path(std::move(path)), m_has_objects(has_objects), m_may_close(may_close), m_report(report)
    {
        m_known[communicators] = &process.communicator_ids;
        m_known[files] = &process.file_ids;
        m_known[windows] = &process.window_ids;
        for (const Datatype* datatype : process.datatypes)
            m_datatype_ids.push_back(datatype->id);
        std::ranges::sort(m_datatype_ids);
        m_known[datatypes] = &m_datatype_ids;
    }

    void run()
    {
        try {
            TrcReader reader(m_path);
            State state;
            while (reader.next(state)) {
                m_line = static_cast<std::uint64_t>(state.line);
                check(state);
                ++m_top_level;
            }
            if (!reader.complete())
                m_report.warn("cut-off traces", {m_path},
                              "the trace is cut off after " + std::to_string(m_states) +
                                  " states: " + reader.missing() + " is missing" + close(reader));
        } catch (const ReadError& error) {
            m_report.warn("broken traces", {error.file(), static_cast<std::uint64_t>(error.line())},
                          "the trace is broken: " + error.reason());
        } catch (const OpenError& error) {
            m_report.warn("unreadable traces", {m_path}, error.code().message());
        }
        for (int object = 0; object < object_kinds; ++object)
            warn_of_unknown(static_cast<Object>(object));
    }

  private:
    /// What became of a trace that was cut off.
    std::string close(const TrcReader& reader) const
    {
        if (!m_may_close)
            return {};
        try {
            close_trace(m_path, reader, m_top_level);
            return "; it was closed, the original is kept as " + m_path + original_suffix;
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
        if (m_has_objects) {
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
        if (std::ranges::binary_search(*m_known[object], id))
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
        m_report.warn("undescribed objects", {m_path, unknown.line}, text);
    }

    static constexpr std::size_t most_unknown_ids = 1000;

    std::string m_path;
    bool m_has_objects;
    bool m_may_close;
    Report& m_report;
    std::vector<std::int64_t> m_datatype_ids;
    const std::vector<std::int64_t>* m_known[object_kinds];
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
void check_output_name(const Project& project, const std::string& output, Report& report)
{
    const std::string stem = fs::path(output).stem().string();
    const std::string directory = canonical_directory(output);
    std::string_view last_directory;
    bool directory_fits = true;
    for (const Process& process : project.processes) {
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
        report.warn("traces that readers will not find", {output},
                    "readers will look for " + expected.path(".trc") +
                        ": to be found, the project has to be " + process.name.directory + process.name.base +
                        ".proj");
        return;
    }
}

void check_process(const Project& project, const Process& process, const AuditOptions& options, Report& report)
{
    for (const LostStates& lost : process.lost)
        report.warn("lost states", lost.place,
                    std::to_string(lost.count) + " states of thread " + std::to_string(lost.thread) +
                        " were lost while tracing: the disk may have been full");
    for (const std::string& thread : process.threads) {
        const std::string path = process.trace_path(thread);
        std::error_code ignored;
        if (!fs::exists(path, ignored))
            report.warn("missing traces", {path}, "this trace is missing");
        else if (options.read_traces)
            TraceAudit(process, path, project.levels.has_ranks && !process.infos.empty(), options.close_traces, report)
                .run();
    }
}

} // namespace

void audit(const Project& project, const std::string& output, const AuditOptions& options, Report& report)
{
    check_output_name(project, output, report);
    for (const Process& process : project.processes)
        check_process(project, process, options, report);
}

} // namespace hdtrace::merger
