// Names chosen by people: lists of them with wildcards, and names that were misspelt.
#pragma once

#include <stddef.h>

namespace hdtrace {

/// A word in a list.
struct Word {
    const char* text;
    size_t length;
};
/// Takes the next word off a list, whose words are separated by commas and blanks. Its length is 0 at the
/// end.
Word take_word(const char*& list);
/// The same of names in which blanks may stand: they are separated by commas only.
Word take_name(const char*& list);

/// Whether @p pattern is @p name; `*` stands for any text, `?` for one character.
bool fits(Word pattern, const char* name);
/// Whether one of a list of patterns does.
bool fits_one(const char* patterns, const char* name);
/// The same where blanks belong to the patterns.
bool fits_one_name(const char* patterns, const char* name);
/// The same for an MPI function, `MPI_Send`: its prefix may be left out, and the letters' case does not
/// matter.
bool fits_function(Word pattern, const char* function);
bool fits_one_function(const char* patterns, const char* function);

/// Finds which of the names that it is shown is nearest to a word.
class NearestName {
  public:
    explicit NearestName(Word word) : m_word(word) {}
    void look_at(const char* name);
    /// Null if none is so near that it was meant.
    const char* found() const { return m_found; }

  private:
    size_t distance_to(const char* name) const;

    Word m_word;
    const char* m_found = nullptr;
    size_t m_distance = ~size_t{0};
};

} // namespace hdtrace
