#include "hdtrace/format/element_forms.h"

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>

#include "hdtrace/format/eight_bytes.h"

namespace hdtrace::detail {
namespace {

// More than traces have, and little memory and time even if a file has only nonsense.
constexpr std::size_t most_steps = 20'000;
constexpr int most_others = 32;

constexpr char quote = '\'';

/// All steps.
struct Steps {
    std::mutex mutex;
    std::deque<FormStep> all;
};

Steps& steps()
{
    static auto& made = *new Steps; // also for what runs at the end of the program
    return made;
}

// The name of the attribute before whose value it stands, as our writer writes it; else nothing.
std::string_view name_in(std::string_view step)
{
    const std::size_t blank = step.find(' ');
    if (blank == step.npos || !step.ends_with("='"))
        return {};
    const std::string_view name = step.substr(blank + 1, step.size() - blank - 3);
    return name.find_first_of(" \t=\"") == name.npos ? name : std::string_view();
}

} // namespace

bool is_reserved(std::string_view name)
{
    return name == "Event" || name == "Nested" || name == "Program";
}

ElementForms& ElementForms::of_states()
{
    static auto& forms = *new ElementForms(true);
    return forms;
}

ElementForms& ElementForms::of_children()
{
    static auto& forms = *new ElementForms(false);
    return forms;
}

// By up to sixteen bytes of the name behind '<'.
std::size_t ElementForms::slot_of(const char* text)
{
    if constexpr (!has_eight_bytes)
        return static_cast<unsigned char>(text[1]);
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;
    const std::uint64_t first = eight_bytes(text);
    if (const std::uint64_t blank = bytes_equal(first, ' '))
        return ((first & ((blank & -blank) - 1)) * spread) >> 56;
    const std::uint64_t second = eight_bytes(text + sizeof first);
    const std::uint64_t blank = bytes_equal(second, ' ');
    return ((first ^ (second & ((blank & -blank) - 1)) * spread) * spread) >> 56;
}

void ElementForms::add(std::string_view element, const NameList& names)
{
    Steps& known = steps();
    const std::lock_guard lock(known.mutex);
    std::atomic<FormStep*>* place = &m_first[slot_of(element.data())];
    const FormStep* before = nullptr;
    for (std::size_t begin = 0; begin + 1 < element.size();) {
        const std::size_t opening = element.find(quote, begin + (before ? 1 : 0));
        const std::string_view text = element.substr(begin, opening - begin + 1);
        begin = opening == element.npos ? element.npos : element.find(quote, opening + 1);
        if (begin == element.npos || name_in(text).empty())
            return;
        FormStep* const step = find_or_add(*place, text, before, names);
        if (!step)
            return;
        before = step;
        place = &step->m_next;
    }
}

// Null if there are too many.
FormStep* ElementForms::find_or_add(std::atomic<FormStep*>& place, std::string_view text,
                                    const FormStep* before, const NameList& names)
{
    std::atomic<FormStep*>* last = &place;
    for (int others = 0; FormStep* const step = *last; last = &step->m_other)
        if (step->m_text == text || ++others == most_others)
            return step->m_text == text ? step : nullptr;
    std::deque<FormStep>& all = steps().all;
    if (all.size() == most_steps)
        return nullptr;
    FormStep& step = all.emplace_back();
    const std::string_view name = name_in(text);
    step.m_text = text;
    std::array<char, FormStep::room> beginning{}, mask{};
    text.copy(beginning.data(), beginning.size());
    std::fill_n(mask.begin(), std::min(text.size(), mask.size()), '\xff');
    std::memcpy(step.m_words, beginning.data(), beginning.size());
    std::memcpy(step.m_masks, mask.data(), mask.size());
    step.m_owner = before ? before->m_owner : std::string(text.substr(1, text.find(' ') - 1));
    step.m_is_event = m_have_times && step.m_owner == "Event";
    step.m_value = kind_of(step.m_owner, name);
    step.m_has_time = (before && before->m_has_time) || step.m_value == ValueKind::time;
    step.m_has_end = (before && before->m_has_end) || step.m_value == ValueKind::end;
    step.m_names =
        &names.first((before ? before->m_names->size() : 0) + (step.m_value == ValueKind::attribute ? 1 : 0));
    step.m_is_valid = (before ? before->m_is_valid : !is_reserved(step.m_owner)) &&
                      (m_have_times || (name != "time" && name != "end"));
    *last = &step; // from now on it does not change, but for what follows it
    return &step;
}

ValueKind ElementForms::kind_of(std::string_view owner, std::string_view name) const
{
    if (m_have_times && name == "time")
        return ValueKind::time;
    return m_have_times && name == "end" && owner != "Event" ? ValueKind::end : ValueKind::attribute;
}

} // namespace hdtrace::detail
