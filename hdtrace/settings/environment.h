// The tracer's variables in the environment: those of the settings, and those that its parts tell each other.
#pragma once

#include "hdtrace/settings/patterns.h"
#include "hdtrace/settings/settings.h"

namespace hdtrace {

/// The process that hdtrace-run has started.
inline constexpr const char* process_variable = "HDTRACE_PID";
/// In this variable hdtrace-run names the variables of settings that its options have set, each with a blank
/// behind it.
inline constexpr const char* options_variable = "HDTRACE_OPTIONS";
/// Tells spawned processes the uid of their parent's communicator.
inline constexpr const char* parent_variable = "HDTRACE_PARENT";

/// Whether "NAME=VALUE" is one of these, or the like.
bool is_internal_variable(const char* variable);

/// A variable that is not what the user wants.
struct WrongVariable {
    Word name;
    const char* value;
    const char* expected; ///< what the value is not, in words; null: no setting has this name
    const char* nearest;  ///< the variable that was perhaps meant; null if none is near
};

/// Shows all of them. A program has none that may say nothing (has_rights_of_others()).
void find_wrong_variables(void (*show)(const WrongVariable&));

} // namespace hdtrace
