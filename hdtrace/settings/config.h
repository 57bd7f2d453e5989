// The settings file (docs/rules.md): one parser for hdtrace-run and for what runs inside the application.
// Nothing here asks for memory or says anything.
#pragma once

#include "hdtrace/settings/rules.h"
#include "hdtrace/settings/settings.h"

namespace hdtrace {

/// Something in the file that is wrong.
struct ConfigProblem {
    int line;
    const char* key;      ///< whose value it is; null: the line's own
    Word word;            ///< what is wrong
    const char* expected; ///< what it is not, in words
    const char* nearest;  ///< what was perhaps meant; null if nothing is near
    bool is_in_rule;
};

/// Takes what a file says.
struct Config {
    Settings& settings;
    std::span<Rule> rules; ///< room for them, count_rules() many
    std::span<const RuledFunction> functions;
    void (*report)(void* object, const ConfigProblem& problem);
    void* object; ///< for report()
    size_t rule_count = 0;
    uint64_t options = 0; ///< which the file has set: a bit for each, by its position
};

/// The setting that names the file.
inline constexpr const char* config_variable = "HDTRACE_CONFIG";

/// The most bytes that a file may have.
inline constexpr size_t largest_config = 1 << 20;

/// For how many rules there must be room: at least as many as there are.
size_t count_rules(const char* text);

/// Reads the text, of @p size bytes and a NUL. It is changed and must stay, with as many bytes behind it for
/// what has to be put together. What is wrong is reported and counts as not there; so does a rule in which
/// something is wrong. Returns whether all was right.
bool read_config(Config& config, char* text, size_t size);

} // namespace hdtrace
