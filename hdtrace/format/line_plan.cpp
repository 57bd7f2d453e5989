// How LineParser makes elements of notes about their values: learnt from one that it has parsed.
#include "hdtrace/format/line_parser.h"

#include <algorithm>

namespace hdtrace::detail {

/// Goes through the attributes and the notes. What finds anything unusual is false.
class LineParser::Planner {
  public:
    /// @p text is that of the element up to the end of its attributes.
    Planner(std::string_view text, const State* state, const TextNotes::Next& next)
        : m_text(text), m_state(state), m_next(next)
    {
        m_plan.before = begin();
        m_plan.is_state = state;
        m_plan.is_event = state && state->is_event;
    }

    bool add_attributes(const AttributeList& list)
    {
        m_plan.attributes = list.size();
        return std::ranges::all_of(list.m_values,
                                   [&](const auto& value) { return add_times(value.begin) && add(value); }) &&
               add_times(m_text.size());
    }
    /// What follows must be in the same record, for only there it is the same each time.
    bool finish()
    {
        const std::uint32_t end = is_left() ? begin() : m_next.text_end - m_next.begin;
        const auto size = static_cast<std::uint32_t>(m_text.size());
        m_plan.is_empty = end > size + 1 && std::string_view(m_text.data() + size, 2) == "/>";
        m_plan.behind = size - m_end + (m_plan.is_empty ? 2 : 0);
        m_plan.text_behind = static_cast<std::uint32_t>(m_text.rfind('\'')) - m_end;
        const int ends = m_state && !m_plan.is_event ? 1 : 0;
        return end > size && count(Plan::Source::time) == (m_state ? 1 : 0) &&
               count(Plan::Source::end) == ends;
    }
    Plan take() { return std::move(m_plan); }

  private:
    bool is_left() const { return m_next.value != m_next.end; }
    /// Of the next value, from the beginning of the element.
    std::uint32_t begin() const { return m_next.value->begin - m_next.begin; }
    void add_noted(Plan::Source source, const AttributeList::Value& value)
    {
        if (source == Plan::Source::notes && !m_plan.steps.empty() && m_plan.steps.back().source == source)
            ++m_plan.steps.back().count;
        else
            m_plan.steps.push_back({source, 1, value});
        ++m_plan.notes;
        m_end = begin() + m_next.value->size;
        ++m_next.value;
    }
    // Either noted from its beginning to its end, or not at all.
    bool add(AttributeList::Value value)
    {
        if (!is_left() || begin() >= value.begin + std::max<std::uint32_t>(value.size, 1)) {
            value.begin -= m_end;
            m_plan.steps.push_back({Plan::Source::constant, 1, value});
            return true;
        }
        if (begin() != value.begin || m_next.value->size != value.size)
            return false;
        add_noted(Plan::Source::notes, value);
        return true;
    }
    // What stands before @p end and is in no attribute's value.
    bool add_times(std::size_t end)
    {
        while (is_left() && begin() < end)
            if (!add_time())
                return false;
        return true;
    }
    bool add_time()
    {
        const std::size_t end = begin() + std::size_t{m_next.value->size};
        if (!m_state || end >= m_text.size() || m_text[end] != '\'')
            return false;
        const std::string_view before = m_text.substr(0, begin());
        const bool is_time = before.ends_with(" time='");
        if (!is_time && (m_plan.is_event || !before.ends_with(" end='")))
            return false;
        add_noted(is_time ? Plan::Source::time : Plan::Source::end, {});
        return true;
    }
    std::ptrdiff_t count(Plan::Source source) const
    {
        return std::ranges::count(m_plan.steps, source, &Plan::Step::source);
    }

    std::string_view m_text;
    const State* m_state;
    TextNotes::Next m_next;
    std::uint32_t m_end = 0; ///< of the last value that is noted
    Plan m_plan;
};

// One that fits nothing if it cannot be told by notes alone.
LineParser::Plan LineParser::plan_of(std::string_view text, const Element& element, const State* state,
                                     const TextNotes::Next& next)
{
    Plan nothing;
    nothing.before = UINT32_MAX;
    Planner planner(text, state, next);
    if (!planner.add_attributes(element.attributes) || !planner.finish())
        return nothing;
    Plan plan = planner.take();
    plan.name = element.name;
    plan.names = &*element.attributes.m_names;
    return plan;
}

} // namespace hdtrace::detail
