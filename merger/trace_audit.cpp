#include "merger/trace_audit.h"

#include "hdtrace/calls/calls.h"
#include "hdtrace/format/errors.h"
#include "hdtrace/format/repair.h"
#include "hdtrace/format/sums.h"
#include "hdtrace/format/trc_reader.h"
#include "merger/datatypes.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>

namespace hdtrace::merger {

namespace {

constexpr const char* object_names[object_kinds] = {"communicator", "datatype", "file", "window"};

std::optional<Object> object_of(ObjectKind kind)
{
    switch (kind) {
    case ObjectKind::communicator:
        return communicators;
    case ObjectKind::datatype:
        return datatypes;
    case ObjectKind::file:
        return files;
    case ObjectKind::window:
        return windows;
    default:
        return std::nullopt;
    }
}

/// An attribute that names an object.
struct Referring {
    AttributeName attribute;
    Object object;
};

const std::vector<Referring>& all_referring()
{
    static const std::vector<Referring> all = [] {
        std::vector<Referring> found;
        for (const Reference& reference : all_references())
            if (const auto object = object_of(reference.kind))
                found.push_back({reference.attribute, *object});
        return found;
    }();
    return all;
}

/// Of a FIFO the reader might wait for ever.
bool is_special_file(const std::string& path)
{
    std::error_code ignored;
    return std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored);
}

/// Reads one trace and compares it with what the process describes.
class TraceAudit {
  public:
    TraceAudit(const TraceJob& job, Report& report) : m_job(job), m_report(report) {}

    void run()
    {
        if (is_special_file(m_job.path)) {
            m_report.warn(Topic::unreadable_traces, {m_job.path}, "this is not a regular file");
            return;
        }
        try {
            m_is_running = m_job.may_close && is_being_traced(m_job.path);
            if (has_only_sums(m_job.path))
                return check_sums();
            if (m_job.only_end && is_whole())
                return;
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
            else if (!reader.has_segments()) // of these the first may have been given up
                check_count();
        } catch (const ReadError& error) {
            m_report.warn(Topic::broken_traces, {error.file(), static_cast<std::uint64_t>(error.line())},
                          "the trace is broken: " + error.reason());
        } catch (const OpenError& error) {
            if (error.code() == std::errc::no_such_file_or_directory)
                warn_of_missing_trace(m_job.path, m_report);
            else
                m_report.warn(Topic::unreadable_traces, {error.file()}, error.code().message());
        }
        for (int object = 0; object < object_kinds; ++object)
            warn_of_unknown(static_cast<Object>(object));
    }

  private:
    /// Whether the trace was closed: its end tells.
    bool is_whole() const
    {
        TrcReader reader(m_job.path);
        reader.seek(std::numeric_limits<std::int64_t>::max());
        State state;
        while (reader.next(state)) {
        }
        return reader.complete();
    }

    /// What became of a trace that was cut off.
    std::string close(const TrcReader& reader) const
    {
        if (!m_job.may_close || reader.has_segments())
            return {};
        if (m_is_running)
            return "; its process still writes";
        try {
            close_trace(m_job.path, reader, m_top_level);
            return "; it was closed, the original is kept as " + m_job.path + original_suffix;
        } catch (const std::exception& error) {
            return std::string("; it cannot be closed: ") + error.what();
        }
    }

    void check_count()
    {
        if (!m_job.written_states || *m_job.written_states == m_states)
            return;
        m_report.warn(Topic::changed_traces, {m_job.path},
                      "the trace has " + std::to_string(m_states) + " states, but its process wrote " +
                          std::to_string(*m_job.written_states) +
                          ": lines were taken out of it, or put into it, later");
    }

    struct Unknown {
        std::set<std::int64_t> ids;
        std::int64_t first = 0;
        std::uint64_t line = 0;
    };

    void check_sums()
    {
        const Sums sums = read_sums(sums_path(m_job.path));
        if (!sums.missing.empty())
            m_report.warn(Topic::cut_off_traces, {sums_path(m_job.path)},
                          "the file is cut off: " + sums.missing + " is missing");
    }

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
        for (const auto& [attribute, object] : m_referring)
            if (const auto id = element.integer(attribute); id && *id != null_id)
                check_reference(object, *id);
    }

    void check_reference(Object object, std::int64_t id)
    {
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

    const std::vector<Referring>& m_referring = all_referring();
    const TraceJob& m_job;
    Report& m_report;
    bool m_is_running = false; ///< it was when it began to be read
    Unknown m_unknown[object_kinds];
    std::int64_t m_states = 0;
    std::uint64_t m_top_level = 0; ///< states and events
    std::uint64_t m_line = 0;
};

} // namespace

void warn_of_missing_trace(const std::string& path, Report& report)
{
    report.warn(Topic::missing_traces, {path}, "this trace is missing");
}

void audit_trace(const TraceJob& job, Report& report)
{
    TraceAudit(job, report).run();
}

} // namespace hdtrace::merger
