#include "hdtrace/writer/environment.h"

#include <errno.h>
#include <stdlib.h>

namespace hdtrace {

namespace {

struct BoolOption {
    const char* variable;
    bool usual;
};

struct IntOption {
    const char* variable;
    int usual;
    int smallest;
    int largest;
};

struct SizeOption {
    const char* variable;
    int64_t usual;
    int64_t smallest;
};

struct TextOption {
    const char* variable;
    const char* usual;
};

namespace option {
#define HDT_OPTION_BOOL(name, variable, usual) constexpr BoolOption name = {variable, usual};
#define HDT_OPTION_INT(name, variable, usual, smallest, largest)                                             \
    constexpr IntOption name = {variable, usual, smallest, largest};
#define HDT_OPTION_SIZE(name, variable, usual, smallest)                                                     \
    constexpr SizeOption name = {variable, usual, smallest};
#define HDT_OPTION_TEXT(name, variable, usual) constexpr TextOption name = {variable, usual};
#include "hdtrace_options.inc"
} // namespace option

// Null if the variable is not set or empty.
const char* value_of(const char* variable)
{
    const char* const value = getenv(variable);
    return value == nullptr || *value == '\0' ? nullptr : value;
}

bool read(const BoolOption& option, bool& value)
{
    const char* const text = value_of(option.variable);
    value = option.usual;
    return text == nullptr || parse_bool(text, value);
}

bool read(const IntOption& option, int& value)
{
    const char* const text = value_of(option.variable);
    int64_t number = option.usual;
    const bool understood = text == nullptr || (parse_size(text, number) && number >= option.smallest &&
                                                number <= option.largest);
    value = understood ? static_cast<int>(number) : option.usual;
    return understood;
}

bool read(const SizeOption& option, size_t& value)
{
    const char* const text = value_of(option.variable);
    int64_t bytes = option.usual;
    if (text != nullptr && (!parse_size(text, bytes) || bytes < option.smallest))
        return false;
    value = static_cast<size_t>(bytes);
    return true;
}

const char* read(const TextOption& option)
{
    const char* const text = value_of(option.variable);
    return text != nullptr ? text : option.usual;
}

constexpr struct {
    const char* name;
    Compression compression;
} compressions[] = {{"none", Compression::none}, {"gzip", Compression::gzip}, {"zstd", Compression::zstd}};

bool parse_compression(const char* text, Compression& compression)
{
    for (const auto& known : compressions) {
        if (strcmp(text, known.name) == 0) {
            compression = known.compression;
            return true;
        }
    }
    return false;
}

// 0 if there is no such suffix.
int64_t unit_of(char suffix)
{
    switch (suffix) {
    case '\0':
        return 1;
    case 'K':
        return 1 << 10;
    case 'M':
        return 1 << 20;
    case 'G':
        return 1 << 30;
    default:
        return 0;
    }
}

} // namespace

int read_environment(Environment& environment)
{
    environment.directory = read(option::directory);
    const bool understood = read(option::force_flush, environment.settings.force_flush) &&
                            read(option::buffer_size, environment.settings.buffer_size) &&
                            read_trace_form(environment.settings.form);
    return understood ? 0 : EINVAL;
}

bool read_trace_form(TraceForm& form)
{
    form = {};
    const bool knows_digits = read(option::time_digits, form.time_digits);
    return parse_compression(read(option::compress), form.compression) && knows_digits;
}

TraceForm usual_trace_form()
{
    static TraceForm form;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, [] { read_trace_form(form); });
    return form;
}

bool parse_bool(const char* text, bool& value)
{
    if ((*text != '0' && *text != '1') || text[1] != '\0')
        return false;
    value = *text == '1';
    return true;
}

bool parse_size(const char* text, int64_t& bytes)
{
    const char* end = text;
    int64_t number = 0;
    for (; *end >= '0' && *end <= '9'; ++end) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, *end - '0', &number))
            return false;
    }
    const int64_t unit = unit_of(*end);
    const bool is_complete = end > text && (*end == '\0' || end[1] == '\0');
    return is_complete && unit > 0 && !__builtin_mul_overflow(number, unit, &bytes);
}

} // namespace hdtrace
