// Warnings that are reported later, or by another thread or process.
#pragma once

#include "merger/report.h"

#include <cstdint>
#include <string>
#include <vector>

namespace hdtrace::merger {

struct KeptWarning {
    Topic topic;
    std::string file;
    std::uint64_t line = 0;
    std::string text;
};

class WarningCollector : public Report {
  public:
    WarningCollector() : Report([](const Diagnostic&) {}) {}
    void warn(Topic topic, const Place& place, const std::string& text) override
    {
        m_warnings.push_back({topic, std::string(place.file), place.line, text});
    }
    const std::vector<KeptWarning>& warnings() const { return m_warnings; }

  private:
    std::vector<KeptWarning> m_warnings;
};

inline void repeat(const std::vector<KeptWarning>& warnings, Report& report)
{
    for (const KeptWarning& warning : warnings)
        report.warn(warning.topic, {warning.file, warning.line}, warning.text);
}

} // namespace hdtrace::merger
