#include "mpiwrapper/runtime/settings.h"

#include "mpiwrapper/runtime/say.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

namespace hdtrace::mpi {

Settings settings;

namespace {

int64_t read_number(const char* variable, int64_t fallback, int64_t min, int64_t max)
{
    const char* const value = getenv(variable);
    if (value == nullptr || *value == '\0')
        return fallback;
    char* end;
    errno = 0;
    const int64_t number = g_ascii_strtoll(value, &end, 10);
    const bool is_valid = end != value && *end == '\0' && errno == 0 && number >= min && number <= max;
    if (!is_valid) {
        Say(warnings).text(variable).text("='").text(value).text("' is ignored: expected a number from ").number(min)
            .text(" to ").number(max);
    }
    return is_valid ? number : fallback;
}

int64_t read_size(const char* variable, int64_t fallback, int64_t min)
{
    const char* const value = getenv(variable);
    if (value == nullptr || *value == '\0')
        return fallback;
    char* end;
    errno = 0;
    const int64_t number = g_ascii_strtoll(value, &end, 10);
    const int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    const bool ends = end[shift != 0 ? 1 : 0] == '\0';
    const bool is_valid = end != value && ends && errno == 0 && number >= 0 && number <= INT64_MAX >> shift
                          && (number << shift) >= min;
    if (!is_valid) {
        Say(warnings).text(variable).text("='").text(value).text("' is ignored: expected a number of bytes of at least ")
            .number(min).text(", e.g. 256K");
    }
    return is_valid ? number << shift : fallback;
}

// The fallback if memory is short.
const char* copy_of(const char* text, const char* fallback)
{
    const char* const copy = strdup(text);
    return copy != nullptr ? copy : fallback;
}

} // namespace

void read_settings()
{
    const char* text;
    // First, because reading the others may have something to say.
    settings.verbosity = static_cast<int>(read_number("HDTRACE_VERBOSITY", settings.verbosity, incomplete_trace, everything));
#define HDT_OPTION_BOOL(name, variable, default) settings.name = read_number(variable, default, 0, 1) != 0;
#define HDT_OPTION_INT(name, variable, default, min, max)                                                                \
    settings.name = static_cast<int>(read_number(variable, default, min, max));
#define HDT_OPTION_SIZE(name, variable, default, min) settings.name = read_size(variable, default, min);
#define HDT_OPTION_TEXT(name, variable, default)                                                                         \
    text = getenv(variable);                                                                                             \
    settings.name = text != nullptr && *text != '\0' ? copy_of(text, default) : default;
#include "hdtrace_options.inc"
}

} // namespace hdtrace::mpi
