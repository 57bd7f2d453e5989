// line_parser.h - reads the lines that our writer writes, fast.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hdtrace/format/element_forms.h"
#include "hdtrace/format/state.h"
#include "hdtrace/format/text_notes.h"

namespace hdtrace::detail {

/// Whether what LineParser read, and found exact, is as the schema says.
bool is_valid_entry(const State& entry);

/// Understands a subset of XML: a line with one state or event and what is nested in it, in ASCII, without
/// namespaces, comments and text. What it accepts libxml2 accepts too, with the same result.
class LineParser {
  public:
    /// @p time_adjustment is added to all times. Lines with more elements and attributes than @p most_items
    /// are none of the subset.
    explicit LineParser(std::int64_t time_adjustment, std::size_t most_items = ~std::size_t{})
        : m_time_adjustment(time_adjustment), m_most_items(most_items)
    {
    }

    /// Reads a line with its line feed into @p state, whose memory is used again. False if it is anything
    /// else than one state in the subset; @p state is spoiled then. What is known of the line spares work.
    bool parse(std::string_view line, std::int64_t number, State& state, const NotedLine& noted = {});
    /// Whether the line that was parsed last has all digits of its times, and `Nested` at most once before
    /// each state and before no event, as the schema says.
    bool is_exact() const { return m_is_exact; }
    /// Whether its state, which was found exact, is as the schema says.
    bool is_valid(const State& state) const { return m_is_valid || is_valid_entry(state); }

  private:
    /// More than traces have.
    static constexpr int most_additions = 1000;

    struct Reading;

    /// How an element is made of notes about its values. What else stands there is always the same in the
    /// records that say so.
    struct Plan {
        enum class Source : std::uint8_t { constant, notes, time, end };
        struct Step {
            Source source = Source::constant;
            std::size_t count = 1;
            AttributeList::Value value; ///< a constant begins so far behind the value before that is noted
        };
        std::string name;
        const NameList* names = nullptr;
        bool is_state = false; ///< or an event
        bool is_event = false;
        bool is_empty = false; ///< ends behind its attributes
        bool is_valid = false; ///< is as the schema says
        std::uint32_t notes = 0;
        std::size_t attributes = 0;
        std::vector<Step> steps;
        std::uint32_t before = 0;      ///< how much stands before the first value that is noted
        std::uint32_t text_behind = 0; ///< and how much behind the last one, up to the last quote
        std::uint32_t behind = 0;      ///< the same up to where children follow, or behind the element
    };
    class Planner;

    const Plan* plan_at_next();
    bool take_values(const Plan& plan, AttributeList::Value* value, State* state);
    bool parse_noted(Element& element, State* state);
    void learn(const char* begin, const Element& element, const State* state, const FormStep& form);
    static Plan plan_of(std::string_view text, const Element& element, const State* state,
                        const TextNotes::Next& next);
    bool parse_entry(State& state, int depth);
    bool parse_other_entry(State& state, int depth);
    bool parse_nested(std::vector<State>& states, int depth, int& count_of_nested);
    bool parse_state(State& state);
    bool parse_rest(State& state);
    void drop_children(std::vector<Element>& children);
    bool parse_children(std::vector<Element>& children, std::string_view owner);
    bool parse_child(Element& child);
    const FormStep* parse_known(Element& element, State* state, const ElementForms& forms);
    bool parse_new(Element& element, State* state, ElementForms& forms);
    bool parse_attributes(AttributeList& attributes, State* state);
    bool parse_attribute(Reading& reading);
    static void set_text(AttributeList& list, std::string_view text);
    static std::pair<AttributeList::Value*, AttributeList::Value*> more_values(AttributeList& list);
    const char* end_of_time(const char* seconds, std::int64_t& moment) const;
    const char* end_of_value(const char* text, const char* begin, AttributeList::Value& value) const;
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
    const char* m_next = nullptr;          ///< the line feed stops whatever goes on from here
    const char* m_end = nullptr;           ///< behind the line feed
    std::string m_decoded;                 ///< the last value that had references
    bool m_is_ended = false;               ///< the element that was read: no children follow
    bool m_is_new_form = false;            ///< of the element that is read
    const char* m_behind_values = nullptr; ///< likewise: behind its last quote until now
    int m_additions = most_additions;      ///< of forms that may still be made
    std::vector<Element> m_spare_children; ///< whose memory is used again
    std::vector<Element> m_spare_list;     ///< likewise, of one state
    std::vector<State> m_spare_states;

    TextNotes* m_notes = nullptr;   ///< about this line, where there are some
    std::int64_t m_noted_begin = 0; ///< the number that they give its first byte
    const char* m_begin = nullptr;  ///< which is this one
    TextNotes::Next m_noted;        ///< what is known of the text from m_noted_at on
    const char* m_noted_at = nullptr;
    bool m_is_valid = false;                          ///< certainly
    std::vector<std::unique_ptr<const Plan>> m_plans; ///< by the place of the first value that is noted
};

} // namespace hdtrace::detail
