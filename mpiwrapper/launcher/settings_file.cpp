#include "mpiwrapper/launcher/settings_file.h"

#include "mpiwrapper/runtime/recording/functions.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace hdtrace {

SettingsFile::SettingsFile(const std::string& path) : m_path(path)
{
    std::error_code error;
    if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
        m_problems.push_back(path + ": not a file");
        return;
    }
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        m_problems.push_back(path + ": " + std::strerror(errno));
        return;
    }
    m_text.assign(std::istreambuf_iterator<char>(file), {});
    const std::size_t size = m_text.size();
    if (size > largest_config) {
        m_problems.push_back(path + ": it has more than 1 MiB");
        return;
    }
    m_text.resize(2 * (size + 1));
    m_rules.resize(count_rules(m_text.data()) + 1);
    const auto report = [](void* object, const ConfigProblem& problem) {
        static_cast<SettingsFile*>(object)->add_problem(problem);
    };
    Config config = {m_settings, m_rules, mpi::ruled_functions(), report, this};
    read_config(config, m_text.data(), size);
    m_rules.resize(config.rule_count);
    m_options = config.options;
}

bool SettingsFile::sets(const Option& option) const
{
    return (m_options >> (&option - options().data()) & 1) != 0;
}

void SettingsFile::add_problem(const ConfigProblem& problem)
{
    std::string text = m_path + ":" + std::to_string(problem.line) + ": ";
    if (problem.key != nullptr)
        text += std::string(problem.key) + ": ";
    text += "'" + std::string(problem.word.text, problem.word.length) + "' is not " + problem.expected;
    if (problem.nearest != nullptr)
        text += std::string("; did you mean ") + problem.nearest + "?";
    m_problems.push_back(text);
}

} // namespace hdtrace
