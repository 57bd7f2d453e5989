// attached_memory.h - the memory that processes attach to dynamic windows (MPI 4.1, 12.2.4).
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// What was ever attached: the trace does not tell which part MPI_Win_detach is about.
class AttachedMemory {
  public:
    /// @p call is a Win_attach that succeeded.
    void add(const Call& call, const ObjectTable& objects);
    /// Whether bytes from @p begin to @p end were surely never attached by @p rank until now.
    bool lacks(const Window* window, std::int64_t rank, std::int64_t begin, std::int64_t end) const;

  private:
    struct Memory {
        std::map<std::int64_t, std::int64_t> ends; ///< of parts that do not touch, by where they begin
        bool is_whole = true;                      ///< the trace tells of all of them
    };
    static void join(Memory& memory, std::int64_t begin, std::int64_t end);

    std::map<std::pair<const Window*, std::int64_t>, Memory> m_memory; ///< by rank
};

} // namespace hdtrace
