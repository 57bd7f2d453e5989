// call_buffers.h - the memory that a call gives to MPI, of programs that are recorded to be checked.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hdtrace/checking/byte_ranges.h"
#include "hdtrace/matching/events.h"
#include "hdtrace/matching/type_map.h"

namespace hdtrace {

/// Memory of one datatype.
struct CallBuffer : ByteRange {
    bool is_written = false;
    std::int64_t type = -1; ///< its id in the process; -1 is unknown

    bool operator==(const CallBuffer&) const = default;
};

/// What calls tell in `reads` and `writes`. Descriptions of datatypes are kept.
class CallBuffers {
  public:
    /// @p objects must outlive it.
    explicit CallBuffers(const ObjectTable& objects) : m_types(objects) {}

    std::vector<CallBuffer> of(const Call& call);
    /// Null if the project does not tell what the type is made of, or what cannot be.
    const MappedType* type(std::int64_t rank, std::int64_t tid);

  private:
    CallBuffer buffer(std::int64_t rank, std::string_view item);

    TypeMaps m_types;
};

/// Whether a call perhaps has one of these lists.
bool names_buffers(const State& call);

/// Of a list such as "140732:4000;140768:4x9;".
std::vector<std::string_view> items_of(const State& call, const AttributeName& list);

/// The number that an item begins with, which is removed with the sign behind it; -1 if there is none.
std::int64_t take_number(std::string_view& item);

} // namespace hdtrace
