#include "mpiwrapper/runtime/process/settings.h"

#include "mpiwrapper/runtime/process/diagnostic.h"

#include <string.h>

namespace hdtrace::mpi {

Settings settings;

namespace {

// The program may change its environment later. Where memory is short, the default holds.
void copy_text(const Option& option)
{
    const char** const text = text_of(settings, option);
    if (text == nullptr || value_in_environment(option) == nullptr)
        return;
    const char* const copy = strdup(*text);
    Settings defaults;
    *text = copy != nullptr ? copy : *text_of(defaults, option);
}

void refuse_wrong_value(const Option& option)
{
    const char* const value = wrong_value_in_environment(option);
    if (value != nullptr)
        Diagnostic(warnings)
            .text(option.variable)
            .text("='")
            .text(value)
            .text("' is ignored: expected ")
            .text(option.expected);
}

} // namespace

void read_settings()
{
    for (const Option& option : options()) {
        if (set_from_environment(settings, option))
            copy_text(option);
    }
    verbosity = settings.verbosity; // what follows may have something to say
    for (const Option& option : options())
        refuse_wrong_value(option);
}

} // namespace hdtrace::mpi
