// volumes.h - how many bytes calls move.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "hdtrace/calls/volume.h"
#include "hdtrace/format/objects.h"
#include "hdtrace/matching/events.h"

namespace hdtrace {

/// What the arguments of a call say about the bytes that it moves, whether it is prepared, started or done at
/// once. Nothing if such calls move no data, such as a `Barrier`.
std::optional<Volume> volume_of(const ObjectTable& objects, const Call& call);

/// What a call with such a volume moves in all. States of the program's own say it in `size`.
std::int64_t bytes_of(const Call& call, const std::optional<Volume>& volume);

/// What calls of all processes move. Starts must come behind the calls that prepared them. Memory grows with
/// the persistent requests that exist. For one thread at a time.
class Volumes {
  public:
    /// @p objects must outlive this.
    explicit Volumes(const ObjectTable& objects) : m_objects(objects) {}

    /// Of a call that has ended; nothing if it moves no data. To be asked about every call that prepares or
    /// releases operations, too.
    std::optional<Volume> of(const Call& call);
    /// Of one of the operations that a call started, once of() was asked about the call that prepared it.
    std::optional<Volume> of_operation(const Call& call, const Operation& operation) const;

  private:
    std::optional<Volume> of_started(std::int64_t rank, const State& call) const;
    std::optional<Volume> of_prepared(std::int64_t rank, const Element& start) const;

    const ObjectTable& m_objects;
    std::map<std::pair<std::int64_t, std::int64_t>, Volume> m_prepared; ///< by rank and rid of the request
};

} // namespace hdtrace
