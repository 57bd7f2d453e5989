#include "hdtrace/settings/settings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

namespace hdtrace {

namespace {

#include "hdtrace/settings/rows.inc"

// A text that is nothing else.
bool parse_whole(ParseNumber parse, const char* text, int64_t& number)
{
    int64_t value = 0;
    const char* const end = parse(text, value);
    if (end == nullptr || *end != '\0')
        return false;
    number = value;
    return true;
}

bool parse_in_range(const Option& option, const char* text, int64_t& number)
{
    return parse_whole(option.type == Option::Type::size ? parse_size : parse_digits, text, number) &&
           number >= option.smallest && number <= option.largest;
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

bool is_bound(const Option& option, const char* text)
{
    Bound bound;
    return parse_bound(text, bound) && (bound.nanoseconds > 0 || bound.bytes >= option.smallest);
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
        if (!parse_whole(parse_duration, text, number))
            return false;
        store(settings, option, number);
        return true;
    case Option::Type::bound:
        if (!is_bound(option, text))
            return false;
        store(settings, option, text);
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
    if (option.type != Option::Type::text && option.type != Option::Type::notes &&
        option.type != Option::Type::bound)
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
    case Option::Type::bound:
        break;
    }
    return 0;
}

bool is_changed(const Settings& settings, const Option& option)
{
    Settings defaults, own = settings;
    const char** const text = text_of(own, option);
    return text != nullptr ? strcmp(*text, *text_of(defaults, option)) != 0
                           : number_of(settings, option) != number_of(defaults, option);
}

void reset(Settings& settings, const Option& option)
{
    Settings defaults;
    if (const char** const text = text_of(settings, option)) {
        *text = *text_of(defaults, option);
        return;
    }
    const int64_t number = number_of(defaults, option);
    if (option.type == Option::Type::flag)
        store(settings, option, number != 0);
    else if (option.type == Option::Type::size || option.type == Option::Type::duration)
        store(settings, option, number);
    else
        store(settings, option, static_cast<int>(number));
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
