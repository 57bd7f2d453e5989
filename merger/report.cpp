#include "merger/report.h"

namespace hdtrace::merger {

std::string to_string(const Place& place)
{
    std::string text(place.file);
    if (place.line > 0)
        text += ":" + std::to_string(place.line);
    return text;
}

void Report::warn(const std::string& topic, const Place& place, const std::string& text)
{
    if (++m_warnings[topic] <= warnings_per_topic)
        m_sink({Message::Severity::warning, to_string(place), text});
}

void Report::error(const std::string& place, const std::string& text)
{
    m_has_errors = true;
    m_sink({Message::Severity::error, place, text});
}

void Report::finish()
{
    for (const auto& [topic, count] : m_warnings) {
        if (count > warnings_per_topic)
            m_sink({Message::Severity::warning, "",
                    std::to_string(count - warnings_per_topic) + " more warnings about " + topic});
    }
    m_warnings.clear();
}

} // namespace hdtrace::merger
