#include "merger/report.h"

namespace hdtrace::merger {

std::string to_string(const Place& place)
{
    std::string text(place.file);
    if (place.line > 0)
        text += ":" + std::to_string(place.line);
    return text;
}

std::string to_line(const Diagnostic& message, std::string_view tool)
{
    const bool is_error = message.severity == Diagnostic::Severity::error;
    return (message.place.empty() ? std::string(tool) : message.place) +
           (is_error ? ": error: " : ": warning: ") + message.text;
}

std::string_view plural(Topic topic)
{
    switch (topic) {
    case Topic::broken_traces:
        return "broken traces";
    case Topic::changed_traces:
        return "traces that were changed";
    case Topic::clocks:
        return "clocks that are not compared";
    case Topic::communicators_with_several_names:
        return "communicators with several names";
    case Topic::communicators_without_uid:
        return "communicators without uid";
    case Topic::cut_off_lines:
        return "cut-off lines";
    case Topic::cut_off_traces:
        return "cut-off traces";
    case Topic::datatypes_without_contents:
        return "datatypes without contents";
    case Topic::left_out_files:
        return "files that were left out";
    case Topic::lost_lines:
        return "lost lines";
    case Topic::lost_states:
        return "lost states";
    case Topic::missing_info_files:
        return "missing .info files";
    case Topic::missing_processes:
        return "missing processes";
    case Topic::missing_traces:
        return "missing traces";
    case Topic::names_of_unknown_objects:
        return "names of unknown objects";
    case Topic::old_projects:
        return "projects that are older than their traces";
    case Topic::taken_names:
        return "names that are taken";
    case Topic::sudden_ends:
        return "sudden ends";
    case Topic::unfindable_traces:
        return "traces that readers will not find";
    case Topic::undescribed_objects:
        return "undescribed objects";
    case Topic::unknown_combiners:
        return "unknown combiners";
    case Topic::unknown_lines:
        return "unknown lines";
    case Topic::unreadable_traces:
        return "unreadable traces";
    case Topic::unusable_object_files:
        return "object files that changed or are missing";
    case Topic::windows_with_several_names:
        return "windows with several names";
    case Topic::windows_without_uid:
        return "windows without uid";
    }
    return {};
}

void Report::warn(Topic topic, const Place& place, const std::string& text)
{
    if (++m_warnings[topic] <= warnings_per_topic)
        m_sink({Diagnostic::Severity::warning, to_string(place), text});
}

void Report::error(const std::string& place, const std::string& text)
{
    m_has_errors = true;
    m_sink({Diagnostic::Severity::error, place, text});
}

void Report::finish()
{
    for (const auto& [topic, count] : m_warnings) {
        if (count > warnings_per_topic)
            m_sink({Diagnostic::Severity::warning, "",
                    std::to_string(count - warnings_per_topic) + " more warnings about " +
                        std::string(plural(topic))});
    }
    m_warnings.clear();
}

} // namespace hdtrace::merger
