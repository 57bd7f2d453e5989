// What is known of a state from its beginning on, so that it can be told before the state ends.
#pragma once

#include "hdtrace/writer/named_values.h"

#include <stdint.h>
#include <string.h>

namespace hdtrace {

/// Something that a state has from its beginning on: an attribute, or child elements.
struct Argument {
    enum class Kind : uint8_t {
        number,   ///< a number
        text,     ///< a constant, a const char* that needs no escaping
        one_of,   ///< the name of a number
        any_of,   ///< the names of a sum
        string,   ///< a text in the program's memory, a const char*
        numbers,  ///< a list in the program's memory, a const int* and how many: "1;2;"
        found,    ///< a number that is found for an item: the item itself, where the program has it
        children, ///< a child element for each item: a pointer to the first one, where the program has it,
                  ///< how many
    };
    Kind kind;
    int value;         ///< which of the state's values is its first one
    const char* start; ///< what stands before the number or the text: " size='", "<Pending rid='"
    NamedValues names = {};
    int (*meaning)(int) = nullptr; ///< of the numbers in a list; null: they are what they are
    size_t item_size = 0;          ///< at most 8 bytes
    size_t stride = 0; ///< from an item to the next one; where the program has them they are neighbours
    /// The number of an item; -1 if it has none. @p place is where the program has it, and @p equal how many
    /// items like this came right before it. For all threads and signal handlers.
    int64_t (*find)(const void* item, const void* place, int64_t equal) = nullptr;
};

/// What states of one kind have in common. Constants, which are not copied.
struct StateForm {
    const char* name; ///< at most TraceWriter::longest_name bytes
    std::span<const Argument> arguments = {};
};

/// An attribute that is ready as text, such as " site='7'". Other threads may look at it while it changes.
struct alignas(8) ShortText {
    char text[19];
    uint8_t length;
    int32_t number; ///< one more than what the text says; 0: there is none

    void change_to(const ShortText& other);
    /// What it is at the moment, perhaps a mixture.
    ShortText seen() const;
};

/// A state that has begun and not ended. Only the thread whose state it is changes it. Others may copy it,
/// and have to find out by themselves whether it changed meanwhile.
class OpenState {
  public:
    static constexpr int most_values = 20;

    // ---- for the thread that records ----

    /// @p known: which arguments all states of the form have, as bits. set() comes for each of them, and
    /// set_site().
    void start(const StateForm* form, uint64_t known)
    {
        store(m_form, form);
        store(m_known, known);
    }
    void set_begin(int64_t begin) { store(m_begin, begin); }
    void set(int value, int64_t number) { store(m_values[value], number); }
    void set(int value, const void* place) { set(value, reinterpret_cast<int64_t>(place)); }
    /// An argument that not all states of the form have.
    void add(int argument) { store(m_known, m_known | flag(argument)); }
    /// There is something to be done about the arguments when it has ended.
    void set_again() { add(again_bit); }
    /// Not all values could be found out before it began: only its name and its site are told.
    void set_unsure() { store(m_known, m_known | flag(again_bit) | flag(unsure_bit)); }
    /// @p site must stay as it is until the state ends, or keep_site() is called.
    void set_site(const ShortText& site) { store(m_site, &site); }
    void keep_site()
    {
        if (m_form == nullptr)
            return;
        m_kept_site.change_to(*m_site);
        set_site(m_kept_site);
    }

    const ShortText& site() const { return *m_site; }
    int64_t value(int value) const { return m_values[value]; }
    bool has(int argument) const { return (m_known & flag(argument)) != 0; }
    bool is_unsure() const { return has(unsure_bit); }
    bool is_to_be_asked_again() const { return has(again_bit); }

    /// Takes over the arguments of another one, which never began.
    void take_arguments(const OpenState& other);

    // ---- for all ----

    /// What this one is at the moment, for a thread that it does not belong to.
    void copy_from(const OpenState& other);
    /// Whether the copy is still what this one is: if this one is open, and the copy was made while it or one
    /// before it was.
    bool is_same(const OpenState& copy) const
    {
        return __atomic_load_n(&m_begin, __ATOMIC_ACQUIRE) == copy.m_begin;
    }
    const StateForm* form() const { return m_form; }
    int64_t begin() const { return m_begin; }

    /// Appends the attributes, each only if there is room for it until @p limit. What is in the program's
    /// memory is left out if the state @p was_left, for then it may be something else now.
    char* put_attributes(char* out, const char* limit, bool was_left) const;
    /// Whether it has child elements.
    bool has_children() const;
    /// Appends them in the same way. If there is no room for all, the last one tells how many `more` there
    /// are.
    char* put_children(char* out, const char* limit) const;

  private:
    static constexpr int again_bit = 63;
    static constexpr int unsure_bit = 62;
    static constexpr uint64_t flag(int bit) { return uint64_t{1} << bit; }

    // What a state is changes only after everybody can see that the one before it has ended.
    template <typename Value> static void store(Value& shared, Value value)
    {
        __atomic_store_n(&shared, value, __ATOMIC_RELEASE);
    }

    const StateForm* m_form;
    int64_t m_begin;
    uint64_t m_known; // a bit for each argument
    const ShortText* m_site;
    ShortText m_kept_site;
    int64_t m_values[most_values];
};

} // namespace hdtrace
