// calls.h - what the calls of MPI are and do. The facts are those that the wrapper is generated from.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "hdtrace/calls/facts.h"

namespace hdtrace {

/// What is known about a call by the name of its state, e.g. "Isend"; null for states that are no calls of
/// MPI. Names of large-count functions (`Isend_c`) have the facts of the others. Any thread may call it.
const CallFacts* find_call(std::string_view name);

/// The same; states that are no calls have facts that say nothing, with the class `event` or `other`.
const CallFacts& facts_of(std::string_view name);

/// All calls that are known, without those with large counts.
std::span<const CallFacts> all_calls();

/// The class of a state by its name.
CallClass class_of(std::string_view name);

/// Its name as users write it: "point-to-point", "completion", ... The text lives forever.
std::string_view class_name(CallClass call_class);

/// The class that is so called.
std::optional<CallClass> find_class(std::string_view name);

/// What an attribute of a call or of its child elements names by its id.
struct Reference {
    std::string_view attribute; ///< "peerCid"
    ObjectKind kind;            ///< a communicator
};

/// All of them. They live forever.
std::span<const Reference> all_references();

/// What an attribute names, if it is one of them.
std::optional<ObjectKind> find_reference(std::string_view attribute);

/// The attributes of a call that hold ranks of processes in MPI_COMM_WORLD, or lists of them; those that
/// count in a group or a topology are not among them.
std::span<const std::string_view> rank_attributes_of(std::string_view name);

/// The kind as people write it: "communicator". The text lives forever.
std::string_view object_name(ObjectKind kind);

} // namespace hdtrace
