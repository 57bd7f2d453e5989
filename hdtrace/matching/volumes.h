// volumes.h - how many bytes calls move.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/events.h"

namespace hdtrace {

/// Bytes that a call takes from the process and brings to it, by the counts and datatypes of its arguments:
///
/// - A message: what is sent, and what is received; nothing to and from `MPI_PROC_NULL`.
/// - A collective operation: what the process gives to it and gets out of it. Where each member has a part of
///   its own (`Scatter`, `Allgather`, `Alltoall`, ...), the parts of all members together, also its own one,
///   but no part that stays in its place (`MPI_IN_PLACE`). Reductions: what is reduced once, and the result.
///   Without lists the trace does not tell how many neighbours there are: what one of them gets and gives.
/// - An access to a file or to a window: what is written is sent, what is read is received.
///
/// What does not block counts where it is started, with what was asked for; what is prepared (`Send_init`)
/// counts at each start. But what comes is not known then of a receive, nor what an access to a file will
/// transfer: `posted` is what was asked for, and Arrivals tells what was moved. A call that failed moves
/// nothing. Sums stop at the largest number.
struct Volume {
    std::int64_t sent = 0;
    std::int64_t received = 0;
    std::int64_t posted = 0;

    std::int64_t moved() const;

    Volume& operator+=(const Volume& other);
};

/// Whether such an access moves data.
constexpr bool transfers(FileAccess access)
{
    return access == FileAccess::read || access == FileAccess::write;
}

/// What the arguments of a call say about that, whether it is prepared, started or done at once. Nothing if
/// such calls move no data, such as a `Barrier`.
std::optional<Volume> volume_of(const ObjectTable& objects, const Call& call);

/// What a call with such a volume moves in all. States of the program's own say it in `size`.
std::int64_t bytes_of(const Call& call, const std::optional<Volume>& volume);

/// What calls of all processes move. Starts must come behind the calls that prepared them. Memory grows with
/// the persistent requests that exist. For one thread at a time.
class Volumes {
  public:
    /// @p objects must outlive this.
    explicit Volumes(const ObjectTable& objects) : m_objects(objects) {}

    /// Of a call that has ended; nothing if it moves no data. To be asked about every call.
    std::optional<Volume> of(const Call& call);

  private:
    std::optional<Volume> of_started(std::int64_t rank, const State& call) const;

    const ObjectTable& m_objects;
    std::map<std::pair<std::int64_t, std::int64_t>, Volume> m_prepared; ///< by rank and rid of the request
};

} // namespace hdtrace
