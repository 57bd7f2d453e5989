// line_parser.h - reads the lines that our writer writes, fast.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hdtrace/format/trc_reader.h"

namespace hdtrace::detail {

/// Understands a subset of XML: a line with one state or event and what is nested in it, in ASCII, without
/// namespaces, comments and text. What it accepts libxml2 accepts too, with the same result.
class LineParser {
  public:
    /// @p time_adjustment is added to all times. Lines with more elements and attributes than @p most_items
    /// are none of the subset.
    explicit LineParser(std::int64_t time_adjustment, std::size_t most_items = ~std::size_t{})
        : m_time_adjustment(time_adjustment), m_most_items(most_items)
    {
        m_expected.fill(&NameList::empty());
    }

    /// Reads a line with its line feed into @p state, whose memory is used again. False if it is anything
    /// else than one state in the subset; @p state is spoiled then.
    bool parse(std::string_view line, std::int64_t number, State& state);
    /// Whether the line that was parsed last has all digits of its times, and `Nested` at most once before
    /// each state and before no event, as the schema says.
    bool is_exact() const { return m_is_exact; }

  private:
    struct Reading;

    bool parse_entry(State& state, int depth);
    bool parse_nested(std::vector<State>& states, int depth, int& count_of_nested);
    bool parse_state(State& state);
    bool parse_children(std::vector<Element>& children, std::string_view owner);
    bool parse_child(Element& child);
    bool parse_attributes(AttributeList& attributes, std::string_view owner, State* state);
    bool parse_expected(Reading& reading);
    bool parse_usual_time(Reading& reading);
    bool parse_attribute(Reading& reading);
    static bool add_name(Reading& reading, std::string_view name);
    void add_value(Reading& reading, std::string_view value, const char* name);
    void add_value(Reading& reading, std::string_view text, AttributeList::Value value) const;
    bool parse_value(std::string_view& value);
    bool decode_reference();
    bool to_time(std::string_view seconds, std::int64_t& time);
    std::string_view parse_name();
    bool skip(std::string_view text);
    bool skip_blanks();

    std::int64_t m_time_adjustment;
    std::size_t m_most_items;
    std::size_t m_items = 0; ///< of this line, at least
    bool m_is_exact = true;
    std::int64_t m_number = 0;
    const char* m_next = nullptr; ///< the line feed stops whatever goes on from here
    const char* m_end = nullptr;  ///< behind the line feed
    std::string m_decoded;        ///< the last value that had references
    /// The attributes that an element had before, by the slot of its name's key.
    std::array<const NameList*, 64> m_expected;
    std::vector<Element> m_spare_children; ///< whose memory is used again
    std::vector<State> m_spare_states;
};

/// Whether what LineParser read, and found exact, is as the schema says.
bool is_valid_entry(const State& entry);

} // namespace hdtrace::detail
