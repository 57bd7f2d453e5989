// Collective operations as the messages of one process. Ranks are those of the world, volumes are bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "hdtrace/format/proj_reader.h"
#include "hdtrace/matching/events.h"

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

/// Whether the members of such an operation exchange data, as far as the trace can tell.
bool moves_data(const CallFacts& facts);

/// The bytes that a call names for all, for what goes out, and for what comes in; 0 if it names none.
std::int64_t size_of(const Element& element);
std::int64_t sent_size(const Element& call);
std::int64_t received_size(const Element& call);
/// -1 if there is none.
std::int64_t root_of(const Element& call);
/// What the child elements @p name tell; those without data are left out.
std::vector<Volume> volumes(const std::vector<Element>& children, std::string_view name);

/// Whether the trace tells what everyone sends to whom.
bool tells_messages(const Operation& operation, const Members& members);
/// What everyone sends to whom if nobody passes anything on. Empty if the trace does not tell.
std::optional<Exchange> direct_messages(const Operation& operation, const Members& members);

/// What is known of the members of a communicator without a look at each of them.
struct Membership {
    std::int64_t size = 0;
    std::int64_t me = 0;      ///< which of them the process is
    std::int64_t my_rank = 0; ///< in the world
    bool has_root = false;    ///< whether the root that the operation names is one of them
};

struct Bytes {
    std::int64_t sent = 0;
    std::int64_t received = 0;
};

/// The sums of these messages.
std::optional<Bytes> direct_bytes(const Operation& operation, const Membership& membership);

} // namespace hdtrace::exporter
