#include "mpiwrapper/runtime/settings.h"

#include "mpiwrapper/runtime/process/diagnostic.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

namespace hdtrace::mpi {

Settings settings;

namespace {

// The numbers that a variable may have.
struct Range {
    int64_t min;
    int64_t max;
    bool has_units; // K, M, G
};

void refuse(const char* variable, const char* value, const Range& range)
{
    Diagnostic diagnostic(warnings);
    diagnostic.text(variable).text("='").text(value).text("' is ignored: expected ");
    if (range.has_units)
        diagnostic.text("a number of bytes of at least ").number(range.min).text(", e.g. 256K");
    else
        diagnostic.text("a number from ").number(range.min).text(" to ").number(range.max);
}

int64_t read_number(const char* variable, int64_t fallback, const Range& range)
{
    const char* const value = getenv(variable);
    if (value == nullptr || *value == '\0')
        return fallback;
    char* end;
    errno = 0;
    const int64_t number = g_ascii_strtoll(value, &end, 10);
    const int shift = !range.has_units ? 0 : *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    const bool ends = end != value && end[shift != 0 ? 1 : 0] == '\0';
    int64_t result = 0;
    const bool fits = errno == 0 && !__builtin_mul_overflow(number, int64_t{1} << shift, &result);
    if (ends && fits && result >= range.min && result <= range.max)
        return result;
    refuse(variable, value, range);
    return fallback;
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
    // First, because reading the others may have something to diagnostic.
    verbosity = settings.verbosity = static_cast<int>(
        read_number("HDTRACE_VERBOSITY", settings.verbosity, {incomplete_trace, everything, false}));
#define HDT_OPTION_BOOL(name, variable, default)                                                             \
    settings.name = read_number(variable, default, {0, 1, false}) != 0;
#define HDT_OPTION_INT(name, variable, default, min, max)                                                    \
    settings.name = static_cast<int>(read_number(variable, default, {min, max, false}));
#define HDT_OPTION_SIZE(name, variable, default, min)                                                        \
    settings.name = read_number(variable, default, {min, INT64_MAX, true});
#define HDT_OPTION_TEXT(name, variable, default)                                                             \
    text = getenv(variable);                                                                                 \
    settings.name = text != nullptr && *text != '\0' ? copy_of(text, default) : default;
#include "hdtrace_options.inc"
}

} // namespace hdtrace::mpi
