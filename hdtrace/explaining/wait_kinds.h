// wait_kinds.h - why calls wait, and for whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hdtrace/calls/calls.h"

namespace hdtrace {

/// Kinds of wait states. docs/analyze.md says what each is.
enum class WaitKind : std::uint8_t {
    late_sender,
    wrong_order,
    late_receiver,
    wait_at_barrier,
    barrier_completion,
    wait_at_nxn,
    nxn_completion,
    early_reduce,
    early_gather,
    late_broadcast,
    late_scatter,
    wait_at_prefix,
    wait_at_creation,
    wait_at_file,
    wait_at_window,
    late_post,
    early_wait,
    lock_contention,
    wait_at_init,
    wait_at_finalize,
    wait_at_neighbours,
};
constexpr std::size_t wait_kind_count = 21;

/// Who waits for whom in a collective operation.
enum class Awaited : std::uint8_t {
    nobody,
    all,     ///< each member for all others
    root,    ///< each member for the root
    others,  ///< the root for all others
    lower,   ///< each member for those with smaller numbers
    sources, ///< each member for its neighbours that give it data
};

struct WaitKindFacts {
    std::string_view name;                   ///< as users write it: "late-sender"
    Awaited awaited = Awaited::nobody;       ///< of a collective operation
    std::optional<WaitKind> completion = {}; ///< of the rest of the time, after the last member came
    /// MPI does not promise that the members wait: a call is only taken to have waited if it ended after the
    /// others had begun.
    bool may_return_early = false;
};

const WaitKindFacts& facts_of(WaitKind kind);

/// What members of a collective operation wait for in it; nothing if MPI does not say that they do.
std::optional<WaitKind> wait_kind_of(const CallFacts& call);

} // namespace hdtrace
