// Rules about what is recorded, as a settings file has them (docs/rules.md).
#pragma once

#include "hdtrace/settings/numbers.h"
#include "hdtrace/settings/patterns.h"

#include <span>
#include <stdint.h>

namespace hdtrace {

/// What becomes of the calls that a rule is about.
enum class Record : uint8_t {
    all,     ///< all become states
    success, ///< those that ask whether something has happened only if it has
    count,   ///< they are counted, and their time is added up
    none     ///< they are counted
};
inline constexpr const char* record_names[] = {"all", "success", "count", "none"};

/// An MPI function, as rules choose among them.
struct RuledFunction {
    const char* name;       ///< `MPI_Send`
    const char* call_class; ///< null: not in this MPI library
};

/// What a rule can ask for.
enum class Condition : uint8_t {
    call,
    call_class,
    rank,
    host,
    region,
    peer,
    size,
    occurrence,
    time,
    from,
    until,
    file
};
inline constexpr int condition_count = static_cast<int>(Condition::file) + 1;

/// `MPI_Allreduce 100`: the hundredth call of a function.
struct CallNumber {
    Word function = {nullptr, 0};
    int64_t number = 1;
};

/// Which calls, when, and what becomes of them. All conditions that it has must hold. Texts are not owned.
struct Rule {
    int line = 0; ///< where it begins
    Record record = Record::all;
    const char* texts[condition_count] = {}; ///< null: it does not ask for that
    Ranges ranks, peers, sizes, occurrences, times;
    CallNumber from, until;

    const char* text(Condition condition) const { return texts[static_cast<int>(condition)]; }
    bool has(Condition condition) const { return text(condition) != nullptr; }
    bool is_about(const RuledFunction& function) const;
    bool is_for_process(int64_t rank, const char* host) const;
    /// What may be true now and not later.
    bool depends_on_moment() const;
    bool depends_on_arguments() const { return has(Condition::peer) || has(Condition::size); }
};

/// A condition in a settings file.
struct ConditionKind {
    const char* key;
    const char* expected;          ///< what it can be, in words
    Ranges Rule::*ranges;          ///< of those that are ranges of numbers
    ParseNumber parse_number;      ///< of the same
    CallNumber Rule::*call_number; ///< of those that are a call of a function
};
const ConditionKind& kind_of(Condition condition);

} // namespace hdtrace
