// The settings file, as hdtrace-run reads it before the program starts (docs/rules.md).
#pragma once

#include "hdtrace/settings/config.h"

#include <string>
#include <vector>

namespace hdtrace {

class SettingsFile {
  public:
    SettingsFile() = default;
    /// Reads it; what is wrong is among the problems().
    explicit SettingsFile(const std::string& path);
    SettingsFile(const SettingsFile&) = delete;
    SettingsFile& operator=(const SettingsFile&) = delete;

    const std::string& path() const { return m_path; }
    /// The defaults, and what the file sets.
    const Settings& settings() const { return m_settings; }
    bool sets(const Option& option) const;
    const std::vector<Rule>& rules() const { return m_rules; }
    /// For people: file, line, what is wrong, and what was perhaps meant.
    const std::vector<std::string>& problems() const { return m_problems; }

  private:
    void add_problem(const ConfigProblem& problem);

    std::string m_path;
    std::vector<char> m_text; // settings and rules point into it
    Settings m_settings;
    uint64_t m_options = 0; // as in Config
    std::vector<Rule> m_rules;
    std::vector<std::string> m_problems;
};

} // namespace hdtrace
