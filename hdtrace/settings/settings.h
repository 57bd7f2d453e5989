// The settings of the tracer (hdtrace/options.toml): one parser for the environment and the command line,
// inside the application and in hdtrace-run. Nothing here asks for memory or says anything.
#pragma once

#include "hdtrace/settings/numbers.h"
#include "hdtrace/settings/values.h"

#include <span>
#include <stddef.h>

namespace hdtrace {

/// A row of the table.
struct Option {
    enum class Type { flag, number, size, duration, bound, choice, text, notes };

    const char* variable; ///< in the environment
    const char* name;     ///< on the command line, without dashes
    char letter;          ///< the same in short; 0 if there is none
    Type type;
    bool is_for_library; ///< the trace library takes it as well, and not only the tracer of MPI programs
    bool is_about_single_calls; ///< which there are none of with --statistics-only
    int64_t smallest;           ///< of numbers and sizes, also those of bounds
    int64_t largest;
    std::span<const char* const> choices;
    const char* expected; ///< what a value is, in words: the end of "expected ..." and of "is not ..."
    size_t place;         ///< of its member of Settings
};

/// All of them, in the order of the table.
std::span<const Option> options();

/// Sets what @p text says. False if that is not what the option expects, and then nothing is changed. A text
/// is not copied.
bool set(Settings& settings, const Option& option, const char* text);

/// Whether it has another value than the built-in one.
bool is_changed(const Settings& settings, const Option& option);
/// Gives it the built-in value.
void reset(Settings& settings, const Option& option);

/// The member of an option that is a text; null for all others.
const char** text_of(Settings& settings, const Option& option);
/// The member of an option that is none; of a choice its position. 0 for texts.
int64_t number_of(const Settings& settings, const Option& option);

/// Whether the program has rights that whoever started it has not (set-uid, set-gid, capabilities). He must
/// not tell it what to write where: nothing is traced, and the environment says nothing.
bool has_rights_of_others();

/// What the environment says, null if that is nothing: an empty variable counts as not set.
const char* value_in_environment(const Option& option);
/// Sets what the environment says, if it says something. False if that is wrong: it counts as not set.
bool set_from_environment(Settings& settings, const Option& option);
/// What the environment says if that is wrong, else null.
const char* wrong_value_in_environment(const Option& option);

} // namespace hdtrace
