// Collective operations as the messages of one process. Ranks are those of the world, volumes are bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hdtrace/format/proj_reader.h"
#include "hdtrace/format/trc_reader.h"

namespace hdtrace::exporter {

/// The members of a communicator in their order.
struct Members {
    std::vector<std::int64_t> ranks;
    std::size_t me = 0; ///< which of them the process is
};

/// Empty if there is no communicator, if it has two groups, or if the process is not a member.
std::optional<Members> members_of(const Communicator* communicator, std::int64_t rank);

struct Volume {
    std::int64_t rank = 0; ///< who sends it or gets it
    std::int64_t size = 0;
};

struct Exchange {
    std::vector<Volume> sends;
    std::vector<Volume> receives;
};

/// One call of a collective operation, blocking or not.
struct CollectiveCall {
    std::string kind; ///< of the blocking form, e.g. "Bcast" for Ibcast and Bcast_init
    const Element& arguments;
    const std::vector<Element>* children; ///< volumes for each member; null if they are not known
};

/// The kind of a call that starts a collective operation; empty for other calls.
std::string collective_kind(std::string_view call);

/// What everyone sends to whom if nobody passes anything on. Empty if the trace does not tell.
std::optional<Exchange> direct_messages(const CollectiveCall& call, const Members& members);

/// The same, one after the other, as MPI libraries do it: trees, rings and pairs.
std::optional<std::vector<Exchange>> message_rounds(const CollectiveCall& call, const Members& members);

/// A line of the replay.
struct ReplayCollective {
    std::string action;
    std::vector<std::int64_t> arguments;
};

/// The replay's own operation, for one in which all processes take part. Empty if it has none that fits: all
/// members decide alike, since it depends only on what all of them know.
std::optional<ReplayCollective> replay_collective(const CollectiveCall& call, const Members& members);

} // namespace hdtrace::exporter
