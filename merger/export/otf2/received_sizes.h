// How large messages are whose receives do not tell it: those of the original tool.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/events.h"

namespace hdtrace::exporter::otf2 {

class ReceivedSizes {
  public:
    /// Reads all traces if they are not ours, else only the first line of one. Throws OpenError,
    /// ReadError.
    ReceivedSizes(const std::vector<TraceFile>& traces, const ObjectTable& objects);

    /// Bytes; 0 if nothing tells.
    std::int64_t of(const Operation& receive) const;

  private:
    using Key =
        std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>; ///< rank, thread, line, rid

    std::map<Key, std::int64_t> m_sizes;
};

} // namespace hdtrace::exporter::otf2
