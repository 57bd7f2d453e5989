// phrases.h - what calls say, without the numbers in it: few texts for many calls.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/matching/events.h"

namespace hdtrace::report {

/// An attribute of a call or of one of its child elements.
struct Word {
    std::string element; ///< the child element; empty: of the call itself
    std::string name;
    bool is_number = false; ///< its value is told with each call
    std::string value;      ///< otherwise
    std::string meaning;    ///< the name of the object that the value stands for; or empty
};

struct Phrase {
    std::string name; ///< of the call
    CallClass call_class = CallClass::other;
    std::vector<Word> words;
    std::int64_t left_out = 0; ///< child elements that it does not tell

    std::size_t numbers() const;
};

/// Gives phrases numbers.
class Phrases {
  public:
    explicit Phrases(const OpenedProject& project) : m_project(project) {}

    /// The number of the phrase of a call, and the numbers in it. They belong to the object until it is asked
    /// again.
    std::pair<std::uint32_t, const std::vector<std::int64_t>&> say(const Call& call);

    const std::vector<Phrase>& all() const { return m_phrases; }

  private:
    std::int64_t for_each_word(const Call& call, auto begin_element, auto add) const;
    void identify(const Call& call);
    Phrase phrase_of(const Call& call) const;
    /// The name of the object that an attribute stands for; empty if it stands for none.
    std::string_view meaning(std::int64_t rank, std::string_view attribute, std::int64_t id) const;

    const OpenedProject& m_project;
    std::vector<Phrase> m_phrases;
    std::unordered_map<std::string, std::uint32_t> m_numbers; ///< by what identifies them
    std::string m_key;                                        ///< that of the call which is said
    std::vector<std::int64_t> m_values;                       ///< and its numbers
};

} // namespace hdtrace::report
