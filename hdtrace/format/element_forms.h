// element_forms.h - how the elements of traces are written: what stands between their values.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "hdtrace/format/name_list.h"

namespace hdtrace::detail {

/// Whether an element of that name is something else than a state or a child element.
bool is_reserved(std::string_view name);

/// What a value is for.
enum class ValueKind : std::uint8_t { attribute, time, end };

/// What stands before a value, from the one before it or from the element's `<` on: "<Send size='",
/// "' count='". A trace has few forms of elements. Each is a path of steps, and forms that begin alike share
/// these steps. Steps live as long as the program; any number of threads may use them.
class FormStep {
  public:
    /// So many bytes of a text may be read to find its step.
    static constexpr std::ptrdiff_t room = 16;

    /// @p rest bytes may be read of the text.
    bool is_start_of(const char* text, std::ptrdiff_t rest) const
    {
        std::uint64_t read[2];
        std::memcpy(read, text, sizeof read);
        if ((((read[0] & m_masks[0]) ^ m_words[0]) | ((read[1] & m_masks[1]) ^ m_words[1])) != 0)
            return false;
        return size() <= room ||
               (size() <= rest && std::memcmp(text + room, m_text.data() + room, m_text.size() - room) == 0);
    }
    std::ptrdiff_t size() const { return static_cast<std::ptrdiff_t>(m_text.size()); }
    ValueKind value() const { return m_value; }
    /// Whether an element that ends behind the value has the times of a state, or of an event.
    bool is_whole_state() const { return m_has_time && (m_has_end || m_is_event); }
    bool is_event() const { return m_is_event; }
    /// Whether such an element is as the schema says; of events the values decide.
    bool is_valid() const { return m_is_valid; }
    /// Those of the attributes up to this one; times are none.
    const NameList& names() const { return *m_names; }
    /// The name of the element.
    const std::string& owner() const { return m_owner; }

    /// The first of the steps that may follow; null if none does.
    const FormStep* next() const { return m_next.load(std::memory_order_acquire); }
    /// A step that may stand in the place of this one; null if there is no other one.
    const FormStep* other() const { return m_other.load(std::memory_order_acquire); }

  private:
    friend class ElementForms;

    std::uint64_t m_words[2] = {}, m_masks[2] = {}; ///< the beginning of the text
    std::atomic<FormStep*> m_next = nullptr, m_other = nullptr;
    ValueKind m_value = ValueKind::attribute;
    bool m_has_time = false, m_has_end = false, m_is_event = false, m_is_valid = false;
    const NameList* m_names = nullptr;
    std::string m_text;
    std::string m_owner;
};

/// The forms of states and events, or those of child elements, that were seen until now.
class ElementForms {
  public:
    static ElementForms& of_states();
    static ElementForms& of_children();

    ElementForms(const ElementForms&) = delete;
    ElementForms& operator=(const ElementForms&) = delete;

    /// The first of the steps with which @p text, of which FormStep::room bytes may be read, perhaps begins.
    const FormStep* first(const char* text) const
    {
        return m_first[slot_of(text)].load(std::memory_order_acquire);
    }
    /// Adds the form of @p element, which is one of these as far as to the last quote of its attributes, has
    /// these attributes without its times, and is written as our writer writes it, or is none of the forms.
    void add(std::string_view element, const NameList& names);

  private:
    explicit ElementForms(bool have_times) : m_have_times(have_times) {}
    static std::size_t slot_of(const char* text);
    FormStep* find_or_add(std::atomic<FormStep*>& place, std::string_view text, const FormStep* before,
                          const NameList& names);
    ValueKind kind_of(std::string_view owner, std::string_view name) const;

    const bool m_have_times;
    std::atomic<FormStep*> m_first[256] = {}; ///< by the name
};

} // namespace hdtrace::detail
