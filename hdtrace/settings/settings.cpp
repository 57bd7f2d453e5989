#include "hdtrace/settings/settings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

namespace hdtrace {

namespace {

#include "hdtrace/settings/rows.inc"

// 0 if there is no such suffix.
int64_t unit_of(char suffix)
{
    switch (suffix) {
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

constexpr TimeUnit units_of_time[] = {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}};

// The number that the text begins with. Returns where it ends; null if there is none. The locale does not
// matter.
const char* parse_digits(const char* text, int64_t& value)
{
    const char* end = text;
    value = 0;
    for (; *end >= '0' && *end <= '9'; ++end) {
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *end - '0', &value))
            return nullptr;
    }
    return end != text ? end : nullptr;
}

// Digits and, of a size, perhaps a unit.
bool parse(const char* text, bool has_unit, int64_t& number)
{
    int64_t value = 0;
    const char* const end = parse_digits(text, value);
    if (end == nullptr)
        return false;
    if (*end == '\0') {
        number = value;
        return true;
    }
    const int64_t unit = has_unit ? unit_of(*end) : 0;
    return unit > 0 && end[1] == '\0' && !__builtin_mul_overflow(value, unit, &number);
}

// Without a unit only 0.
bool parse_duration(const char* text, int64_t& nanoseconds)
{
    int64_t value = 0;
    const char* const end = parse_digits(text, value);
    if (end == nullptr)
        return false;
    for (const TimeUnit& unit : units_of_time) {
        if (strcmp(end, unit.suffix) == 0)
            return !__builtin_mul_overflow(value, unit.nanoseconds, &nanoseconds);
    }
    nanoseconds = 0;
    return *end == '\0' && value == 0;
}

bool parse_in_range(const Option& option, const char* text, int64_t& number)
{
    return parse(text, option.type == Option::Type::size, number) && number >= option.smallest &&
           number <= option.largest;
}

// -1 if it is none of them.
int find_choice(const Option& option, const char* text)
{
    for (size_t i = 0; i < option.choices.size(); ++i) {
        if (strcmp(option.choices[i], text) == 0)
            return static_cast<int>(i);
    }
    return -1;
}

template <typename Value> void store(Settings& settings, const Option& option, Value value)
{
    memcpy(reinterpret_cast<char*>(&settings) + option.place, &value, sizeof value);
}

template <typename Value> Value load(const Settings& settings, const Option& option)
{
    Value value;
    memcpy(&value, reinterpret_cast<const char*>(&settings) + option.place, sizeof value);
    return value;
}

// Each line is key=value.
bool are_notes(const char* text)
{
    for (const char* line = text; line != nullptr; line = strchr(line, '\n')) {
        line += line != text ? 1 : 0;
        const size_t length = strcspn(line, "=\n");
        if (length == 0 || line[length] != '=')
            return false;
    }
    return true;
}

} // namespace

std::span<const Option> options()
{
    return rows;
}

bool set(Settings& settings, const Option& option, const char* text)
{
    int64_t number = 0;
    switch (option.type) {
    case Option::Type::flag:
        if ((*text != '0' && *text != '1') || text[1] != '\0')
            return false;
        store(settings, option, *text == '1');
        return true;
    case Option::Type::number:
        if (!parse_in_range(option, text, number))
            return false;
        store(settings, option, static_cast<int>(number));
        return true;
    case Option::Type::size:
        if (!parse_in_range(option, text, number))
            return false;
        store(settings, option, number);
        return true;
    case Option::Type::duration:
        if (!parse_duration(text, number))
            return false;
        store(settings, option, number);
        return true;
    case Option::Type::choice:
        if (find_choice(option, text) < 0)
            return false;
        store(settings, option, find_choice(option, text));
        return true;
    case Option::Type::text:
        if (*text == '\0')
            return false;
        store(settings, option, text);
        return true;
    case Option::Type::notes:
        if (!are_notes(text))
            return false;
        store(settings, option, text);
        return true;
    }
    return false;
}

const char** text_of(Settings& settings, const Option& option)
{
    if (option.type != Option::Type::text && option.type != Option::Type::notes)
        return nullptr;
    return reinterpret_cast<const char**>(reinterpret_cast<char*>(&settings) + option.place);
}

int64_t number_of(const Settings& settings, const Option& option)
{
    switch (option.type) {
    case Option::Type::flag:
        return load<bool>(settings, option);
    case Option::Type::number:
    case Option::Type::choice:
        return load<int>(settings, option);
    case Option::Type::size:
    case Option::Type::duration:
        return load<int64_t>(settings, option);
    case Option::Type::text:
    case Option::Type::notes:
        break;
    }
    return 0;
}

std::span<const TimeUnit> time_units()
{
    return units_of_time;
}

bool has_rights_of_others()
{
    return getauxval(AT_SECURE) != 0;
}

const char* value_in_environment(const Option& option)
{
    const char* const value = secure_getenv(option.variable);
    return value == nullptr || *value == '\0' ? nullptr : value;
}

bool set_from_environment(Settings& settings, const Option& option)
{
    const char* const value = value_in_environment(option);
    return value == nullptr || set(settings, option, value);
}

const char* wrong_value_in_environment(const Option& option)
{
    Settings unused;
    return set_from_environment(unused, option) ? nullptr : value_in_environment(option);
}

} // namespace hdtrace
