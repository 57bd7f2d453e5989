#include "mpiwrapper/runtime/process/settings.h"

#include "hdtrace/settings/environment.h"
#include "hdtrace/writer/own_memory.h"
#include "mpiwrapper/launcher/job.h"
#include "mpiwrapper/runtime/process/config_file.h"
#include "mpiwrapper/runtime/process/diagnostic.h"

#include <stdlib.h>
#include <string.h>

namespace hdtrace::mpi {

Settings settings;

namespace {

// By the position of the option; taken when the settings are read.
uint64_t set_variables = 0;
uint64_t set_by_launcher = 0;

// The program may change its environment later. Where memory is short, the default holds.
void copy_text(const Option& option)
{
    const char** const text = text_of(settings, option);
    if (text == nullptr || value_in_environment(option) == nullptr)
        return;
    const char* const copy = own_strdup(*text);
    Settings defaults;
    *text = copy != nullptr ? copy : *text_of(defaults, option);
}

uint64_t bit_of(const Option& option)
{
    return uint64_t{1} << (&option - options().data());
}

// Whether hdtrace-run names it among those that its options have set.
bool is_from_launcher(const Option& option)
{
    const char* const names = secure_getenv(options_variable);
    const size_t length = strlen(option.variable);
    for (const char* name = names; name != nullptr && *name != '\0';) {
        const size_t end = strcspn(name, " ");
        if (end == length && memcmp(name, option.variable, length) == 0)
            return true;
        name += end + (name[end] != '\0' ? 1 : 0);
    }
    return false;
}

void note_origin(const Option& option)
{
    if (value_in_environment(option) == nullptr)
        return;
    set_variables |= bit_of(option);
    if (is_from_launcher(option))
        set_by_launcher |= bit_of(option);
}

void say_wrong(const WrongVariable& variable)
{
    Diagnostic line(incomplete_trace);
    line.bytes(variable.name.text, variable.name.length).text("='").text(variable.value);
    line.text("' is ignored: ");
    if (variable.expected != nullptr)
        line.text("expected ").text(variable.expected);
    else
        line.text("there is no such setting");
    if (variable.nearest != nullptr)
        line.text("; did you mean ").text(variable.nearest).text("?");
}

} // namespace

void read_settings()
{
    read_config_file();
    for (const Option& option : options()) {
        if (!set_from_environment(settings, option))
            continue;
        copy_text(option);
        note_origin(option);
    }
    verbosity = settings.verbosity;
}

void say_wrong_variables()
{
    // By hdtrace-run, or in the processes that have started these.
    const bool has_been_said =
        secure_getenv(process_variable) != nullptr || secure_getenv(parent_variable) != nullptr;
    if (is_first_rank() && !has_been_said)
        find_wrong_variables(say_wrong);
}

Origin origin_of(const Option& option)
{
    return (set_by_launcher & bit_of(option)) != 0     ? Origin::launcher
           : (set_variables & bit_of(option)) != 0     ? Origin::environment
           : (options_of_file() & bit_of(option)) != 0 ? Origin::file
                                                       : Origin::built_in;
}

} // namespace hdtrace::mpi
