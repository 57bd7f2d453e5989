#include "hdtrace/settings/config.h"

#include <string.h>

namespace hdtrace {

namespace {

constexpr const char* blanks = " \t\r";
constexpr const char* rule_section = "[rule]";
constexpr const char* record_key = "record";

char* trim(char* text)
{
    text += strspn(text, blanks);
    char* end = text + strlen(text);
    while (end != text && strchr(blanks, end[-1]) != nullptr)
        --end;
    *end = '\0';
    return text;
}

// A # begins one at the beginning of a line or behind a blank.
void cut_comment(char* line)
{
    for (char* at = line; (at = strchr(at, '#')) != nullptr; ++at) {
        if (at == line || strchr(blanks, at[-1]) != nullptr) {
            *at = '\0';
            return;
        }
    }
}

char* take_line(char*& text)
{
    char* const line = text;
    text += strcspn(text, "\n");
    if (*text != '\0')
        *text++ = '\0';
    cut_comment(line);
    return trim(line);
}

Word whole(const char* text)
{
    return {text, strlen(text)};
}

// As functions stand in traces.
const char* without_prefix(const char* function)
{
    constexpr const char* prefix = "MPI_";
    return strncmp(function, prefix, strlen(prefix)) == 0 ? function + strlen(prefix) : function;
}

class Reader {
  public:
    Reader(Config& config, char* room) : m_config(config), m_notes(room) {}

    bool read(char* text)
    {
        while (*text != '\0') {
            ++m_line;
            char* const line = take_line(text);
            if (*line == '[')
                begin_section(line);
            else if (*line != '\0')
                read_assignment(line);
        }
        end_rule();
        return m_is_right;
    }

  private:
    void fail(const char* key, Word word, const char* expected, const char* nearest = nullptr)
    {
        m_is_right = m_rule_is_right = false;
        m_config.report(m_config.object, {m_line, key, word, expected, nearest, m_rule != nullptr});
    }

    void begin_section(const char* line)
    {
        end_rule();
        m_has_section = true;
        if (strcmp(line, rule_section) != 0) {
            fail(nullptr, whole(line), "a section", rule_section);
            return;
        }
        m_rule = &m_config.rules[m_config.rule_count];
        *m_rule = Rule();
        m_rule->line = m_line;
        m_rule_is_right = true;
        m_has_record = false;
    }

    void end_rule()
    {
        if (m_rule == nullptr)
            return;
        if (m_rule_is_right && !m_has_record)
            fail(nullptr, whole(rule_section), "complete: it lacks record = all, success, count or none");
        m_config.rule_count += m_rule_is_right ? 1 : 0;
        m_rule = nullptr;
    }

    void read_assignment(char* line)
    {
        char* const equals = strchr(line, '=');
        if (equals == nullptr) {
            fail(nullptr, whole(line), "of the form name = value");
            return;
        }
        *equals = '\0';
        const char* const key = trim(line);
        const char* const value = trim(equals + 1);
        if (m_rule != nullptr)
            read_condition(key, value);
        else if (!m_has_section) // nobody knows what is meant in an unknown one
            read_option(key, value);
    }

    // ---- options ----

    void read_option(const char* key, const char* value)
    {
        NearestName nearest(whole(key));
        for (const Option& option : options()) {
            if (strcmp(option.variable, config_variable) == 0)
                continue; // a file names no other one
            if (strcmp(option.name, key) == 0) {
                set_option(option, value);
                return;
            }
            nearest.look_at(option.name);
        }
        fail(nullptr, whole(key), "a setting", nearest.found());
    }

    void set_option(const Option& option, const char* value)
    {
        if (!set(m_config.settings, option, value)) {
            NearestName nearest(whole(value));
            for (const char* const choice : option.choices)
                nearest.look_at(choice);
            fail(option.name, whole(value), option.expected, nearest.found());
            return;
        }
        m_config.options |= uint64_t{1} << (&option - options().data());
        if (option.type == Option::Type::notes)
            *text_of(m_config.settings, option) = add_note(value);
    }

    // All notes that there are.
    const char* add_note(const char* note)
    {
        if (m_notes_end != nullptr)
            *m_notes_end++ = '\n';
        else
            m_notes_end = m_notes;
        const size_t length = strlen(note);
        memcpy(m_notes_end, note, length + 1);
        m_notes_end += length;
        return m_notes;
    }

    // ---- rules ----

    void read_condition(const char* key, const char* value)
    {
        if (strcmp(key, record_key) == 0) {
            read_record(value);
            return;
        }
        NearestName nearest(whole(key));
        nearest.look_at(record_key);
        for (int i = 0; i < condition_count; ++i) {
            const auto condition = static_cast<Condition>(i);
            if (strcmp(kind_of(condition).key, key) == 0) {
                set_condition(condition, value);
                return;
            }
            nearest.look_at(kind_of(condition).key);
        }
        fail(nullptr, whole(key), "something that a rule can ask for", nearest.found());
    }

    void read_record(const char* value)
    {
        NearestName nearest(whole(value));
        for (int i = 0; i < static_cast<int>(std::size(record_names)); ++i) {
            if (strcmp(record_names[i], value) == 0) {
                m_rule->record = static_cast<Record>(i);
                m_has_record = true;
                return;
            }
            nearest.look_at(record_names[i]);
        }
        m_has_record = true; // its value is what is wrong
        fail(record_key, whole(value), "all, success, count or none", nearest.found());
    }

    void set_condition(Condition condition, const char* value)
    {
        const ConditionKind& kind = kind_of(condition);
        if (m_rule->has(condition)) {
            fail(nullptr, whole(kind.key), "to be asked for twice in a rule: write one list");
            return;
        }
        m_rule->texts[static_cast<int>(condition)] = value;
        if (condition == Condition::call)
            check_list(kind, value, &Reader::is_function);
        else if (condition == Condition::call_class)
            check_list(kind, value, &Reader::is_class);
        else if (kind.call_number != nullptr)
            read_call_number(kind, value);
        else if (kind.ranges != nullptr ? !(m_rule->*kind.ranges).parse(value, kind.parse_number)
                                        : *value == '\0')
            fail(kind.key, whole(value), kind.expected);
    }

    void check_list(const ConditionKind& kind, const char* list,
                    bool (Reader::*is_known)(Word, NearestName&) const)
    {
        Word word = take_word(list);
        if (word.length == 0)
            fail(kind.key, word, kind.expected);
        for (; word.length > 0; word = take_word(list)) {
            NearestName nearest(word);
            if (!(this->*is_known)(word, nearest))
                fail(kind.key, word, kind.expected, nearest.found());
        }
    }

    bool is_function(Word pattern, NearestName& nearest) const
    {
        for (const RuledFunction& function : m_config.functions) {
            if (fits_function(pattern, function.name))
                return true;
            nearest.look_at(function.name);
            nearest.look_at(without_prefix(function.name));
        }
        return false;
    }

    bool is_class(Word pattern, NearestName& nearest) const
    {
        for (const RuledFunction& function : m_config.functions) {
            if (function.call_class == nullptr)
                continue;
            if (fits(pattern, function.call_class))
                return true;
            nearest.look_at(function.call_class);
        }
        return false;
    }

    // A name, and perhaps a number.
    void read_call_number(const ConditionKind& kind, const char* value)
    {
        CallNumber& call = m_rule->*kind.call_number;
        const char* rest = value;
        call.function = take_word(rest);
        NearestName nearest(call.function);
        if (call.function.length == 0 || !is_function(call.function, nearest)) {
            fail(kind.key, call.function, "a function of MPI", nearest.found());
            return;
        }
        rest += strspn(rest, blanks);
        if (*rest == '\0')
            return;
        const char* const end = parse_digits(rest, call.number);
        if (end == nullptr || *end != '\0' || call.number < 1)
            fail(kind.key, whole(value), kind.expected);
    }

    Config& m_config;
    char* m_notes;
    char* m_notes_end = nullptr;
    int m_line = 0;
    bool m_is_right = true;
    bool m_has_section = false;
    Rule* m_rule = nullptr; // that is being read
    bool m_rule_is_right = true;
    bool m_has_record = false;
};

} // namespace

size_t count_rules(const char* text)
{
    size_t count = 0;
    for (const char* at = text; (at = strchr(at, '[')) != nullptr; ++at)
        ++count;
    return count;
}

bool read_config(Config& config, char* text, size_t size)
{
    if (memchr(text, '\0', size) != nullptr) {
        config.report(config.object, {1, nullptr, {"the file", 8}, "text", nullptr, false});
        return false;
    }
    return Reader(config, text + size + 1).read(text);
}

} // namespace hdtrace
