#include "mpiwrapper/launcher/explain.h"

#include "mpiwrapper/runtime/recording/functions.h"

#include <algorithm>
#include <filesystem>
#include <ranges>

namespace hdtrace {

namespace {

using mpi::Function;

constexpr std::size_t widest_name = 36;

bool is_about_functions(Condition condition)
{
    return condition == Condition::call || condition == Condition::call_class;
}

/// What a rule asks for besides the function: "rank = 0:64:8 and size = 1M:".
std::string other_conditions(const Rule& rule)
{
    std::string text;
    for (int i = 0; i < condition_count; ++i) {
        const auto condition = static_cast<Condition>(i);
        if (!rule.has(condition) || is_about_functions(condition))
            continue;
        text += text.empty() ? "" : " and ";
        text += std::string(kind_of(condition).key) + " = " + rule.text(condition);
    }
    return text;
}

std::string without_rules(Function function, int all_functions)
{
    const mpi::Level level = mpi::level_of(function);
    if (level == mpi::with_attributes)
        return "all (default)";
    const std::string setting = "--all-functions " + std::to_string(all_functions);
    const char* const reason = level == mpi::local_query ? "a local query" : "only its times are known";
    return (level <= all_functions ? "all (" : "none (") + std::string(reason) + ", " + setting + ")";
}

std::string explain(Function function, const SettingsFile& file, int all_functions)
{
    const std::string name = std::filesystem::path(file.path()).filename();
    std::string text;
    for (const Rule& rule : file.rules() | std::views::reverse) { // the last one that holds counts
        if (!rule.is_about(mpi::ruled_functions()[static_cast<std::size_t>(function)]))
            continue;
        const std::string conditions = other_conditions(rule);
        text += record_names[static_cast<int>(rule.record)];
        text += conditions.empty() ? "" : " if " + conditions;
        text += " (" + name + ":" + std::to_string(rule.line) + ")";
        if (conditions.empty())
            return text;
        text += ", else ";
    }
    return text + without_rules(function, all_functions);
}

} // namespace

std::string explain(const SettingsFile& file, int all_functions)
{
    std::string text;
    for (std::size_t i = 0; i < mpi::function_count; ++i) {
        std::string name = mpi::ruled_functions()[i].name;
        name.resize(std::max(name.size(), widest_name), ' ');
        text += name + " " + explain(static_cast<Function>(i), file, all_functions) + "\n";
    }
    return text;
}

} // namespace hdtrace
