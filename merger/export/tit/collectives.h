// Collective operations as the replay has them, or as messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "merger/export/collectives.h"

namespace hdtrace::exporter {

/// A line of the replay.
struct ReplayCollective {
    std::string action;
    std::vector<std::int64_t> arguments;
};

/// Nobody sends anything: MPI libraries return at once, and SimGrid's algorithms divide by the size. False
/// where not all members know of all.
bool moves_nothing(const Operation& operation, const Members& members);

/// The replay's own operation, for one in which all processes take part: @p members are all. Empty if it has
/// none that fits: all members decide alike, since it depends only on what all of them know.
std::optional<ReplayCollective> replay_collective(const Operation& operation, const Members& members);

/// What everyone sends to whom, one after the other, as MPI libraries do it: trees, rings and pairs. Empty if
/// the trace does not tell.
std::optional<std::vector<Exchange>> message_rounds(const Operation& operation, const Members& members);

} // namespace hdtrace::exporter
