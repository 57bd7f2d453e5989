#include "hdtrace/settings/patterns.h"

#include <string.h>

namespace hdtrace {

namespace {

constexpr const char* separators = ", \t";
constexpr const char* prefix_of_functions = "MPI_";

char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

size_t smallest(size_t a, size_t b, size_t c)
{
    const size_t smaller = a < b ? a : b;
    return smaller < c ? smaller : c;
}

bool fits(Word pattern, const char* name, bool is_same(char, char))
{
    const char* at = pattern.text;
    const char* const end = at + pattern.length;
    const char* behind_star = nullptr; // where to go on if what follows the last star does not fit
    const char* name_at_star = nullptr;
    while (*name != '\0') {
        if (at != end && *at == '*') {
            behind_star = ++at;
            name_at_star = name;
        } else if (at != end && (*at == '?' || is_same(*at, *name))) {
            ++at;
            ++name;
        } else if (behind_star != nullptr) {
            at = behind_star;
            name = ++name_at_star;
        } else {
            return false;
        }
    }
    while (at != end && *at == '*')
        ++at;
    return at == end;
}

template <typename Fits>
bool one_fits(const char* patterns, const Fits& fits_pattern, Word take(const char*&) = take_word)
{
    for (Word word = take(patterns); word.length > 0; word = take(patterns)) {
        if (fits_pattern(word))
            return true;
    }
    return false;
}

} // namespace

Word take_word(const char*& list)
{
    list += strspn(list, separators);
    const Word word = {list, strcspn(list, separators)};
    list += word.length;
    return word;
}

Word take_name(const char*& list)
{
    list += strspn(list, separators);
    Word name = {list, strcspn(list, ",")};
    list += name.length;
    while (name.length > 0 && strchr(separators, name.text[name.length - 1]) != nullptr)
        --name.length;
    return name;
}

bool fits(Word pattern, const char* name)
{
    return fits(pattern, name, [](char a, char b) { return a == b; });
}

bool fits_one(const char* patterns, const char* name)
{
    return one_fits(patterns, [&](Word pattern) { return fits(pattern, name); });
}

bool fits_one_name(const char* patterns, const char* name)
{
    return one_fits(
        patterns, [&](Word pattern) { return fits(pattern, name); }, take_name);
}

bool fits_function(Word pattern, const char* function)
{
    const bool has_prefix = strncmp(function, prefix_of_functions, strlen(prefix_of_functions)) == 0;
    const auto is_same = [](char a, char b) { return lower(a) == lower(b); };
    return fits(pattern, function, is_same) ||
           (has_prefix && fits(pattern, function + strlen(prefix_of_functions), is_same));
}

bool fits_one_function(const char* patterns, const char* function)
{
    return one_fits(patterns, [&](Word pattern) { return fits_function(pattern, function); });
}

// How many letters must be changed, put in or taken away; a letter's case does not matter.
size_t NearestName::distance_to(const char* name) const
{
    constexpr size_t longest = 64;
    const size_t length = strlen(name);
    if (length > longest || m_word.length > longest)
        return longest;
    size_t row[longest + 1];
    for (size_t j = 0; j <= length; ++j)
        row[j] = j;
    for (size_t i = 1; i <= m_word.length; ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length; ++j) {
            const size_t above = row[j];
            const bool is_same = lower(m_word.text[i - 1]) == lower(name[j - 1]);
            row[j] = smallest(above + 1, row[j - 1] + 1, diagonal + (is_same ? 0 : 1));
            diagonal = above;
        }
    }
    return row[length];
}

void NearestName::look_at(const char* name)
{
    const size_t distance = distance_to(name);
    const size_t most = m_word.length / 3 + 1;
    if (distance > most || distance >= m_distance)
        return;
    m_found = name;
    m_distance = distance;
}

} // namespace hdtrace
