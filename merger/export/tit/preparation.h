// What has to be known of a whole run before its replay can be written.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/format/objects.h"
#include "hdtrace/matching/events.h"

namespace hdtrace::exporter {

/// An operation of a process by the call that started it; rid is -1 for blocking and for collective ones.
struct OperationCall {
    std::int64_t rank = 0;
    std::int64_t thread = 0;
    std::int64_t line = 0;
    std::int64_t rid = -1;

    auto operator<=>(const OperationCall&) const = default;
};

/// What lacks its counterpart: the replay would wait for it for ever.
struct UnmatchedOperations {
    /// Messages of which the trace has one end only, or that were too large for their receive, which failed.
    std::set<OperationCall> sends;
    std::set<OperationCall> receives;
    std::set<OperationCall> collectives; ///< that failed in another process
    /// Bytes of the messages that receives got which do not tell it, as in traces of the original tool.
    std::map<OperationCall, std::int64_t> received_sizes;
};

/// Reads all traces. Throws OpenError, ReadError.
UnmatchedOperations find_unmatched_operations(const Project& project, const ObjectTable& objects);

/// What a non-blocking receive got that did not say before what it would get, or not how much.
struct Received {
    std::int64_t source = any_rank;
    std::int64_t tag = any_tag;
    std::int64_t size = 0;
    bool is_complete = false;
};

using ReceivedByRid = std::unordered_map<std::int64_t, Received>;

/// What a receive asks for.
Received posted(const Operation& receive);

/// Whether the call that posts a receive does not say all that the replay needs.
bool has_to_be_looked_up(const Received& posted);

/// Whether a non-blocking receive got another number of bytes than it has room for.
bool got_other_size(const Completion& receive);

/// Reads all calls of a process. Of receives that say all that the replay needs only those are in it that
/// were cancelled, got less, or whose end the trace does not have. Throws OpenError, ReadError.
ReceivedByRid find_received(const std::vector<TraceFile>& traces);

/// Whether the time of such calls is a part of the computation.
bool is_computation(const CallFacts& facts);

/// Whether calls of different threads of a process may have waited at the same time. Reads all calls of the
/// process. Throws OpenError, ReadError.
bool threads_overlap(const std::vector<TraceFile>& traces);

} // namespace hdtrace::exporter
