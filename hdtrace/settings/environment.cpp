#include "hdtrace/settings/environment.h"

#include <string.h>
#include <unistd.h>

namespace hdtrace {

namespace {

constexpr const char* prefix = "HDTRACE_";
// The last one is the mark that hdtrace doctor looks for in its own trial.
constexpr const char* internal_variables[] = {process_variable, options_variable, parent_variable,
                                              "HDTRACE_DOCTOR"};

bool has_name(const char* variable, const char* name)
{
    const size_t length = strlen(name);
    return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

bool is_setting(const char* variable)
{
    for (const Option& option : options()) {
        if (has_name(variable, option.variable))
            return true;
    }
    return false;
}

// What all names have in common brings none of them nearer.
const char* nearest_setting(Word name)
{
    const size_t common = strlen(prefix);
    NearestName nearest({name.text + common, name.length - common});
    for (const Option& option : options())
        nearest.look_at(option.variable + common);
    return nearest.found() == nullptr ? nullptr : nearest.found() - common;
}

} // namespace

bool is_internal_variable(const char* variable)
{
    for (const char* const name : internal_variables) {
        if (has_name(variable, name))
            return true;
    }
    return false;
}

void find_wrong_variables(void (*show)(const WrongVariable&))
{
    if (has_rights_of_others())
        return;
    for (const Option& option : options()) {
        if (const char* const value = wrong_value_in_environment(option))
            show({{option.variable, strlen(option.variable)}, value, option.expected, nullptr});
    }
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
        const size_t length = strcspn(*variable, "=");
        if (strncmp(*variable, prefix, strlen(prefix)) != 0 || (*variable)[length] == '\0' ||
            is_setting(*variable) || is_internal_variable(*variable))
            continue;
        const Word name = {*variable, length};
        show({name, *variable + length + 1, nullptr, nearest_setting(name)});
    }
}

} // namespace hdtrace
