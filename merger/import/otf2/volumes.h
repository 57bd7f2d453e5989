// How many bytes a process gives to a collective operation, as calls tell it.
#pragma once

#include <cstdint>

#include "hdtrace/calls/calls.h"
#include "hdtrace/format/element.h"
#include "merger/import/otf2/writers.h"

namespace hdtrace::importer::otf2 {

/// What the event of an operation says.
struct CollectiveVolume {
    std::uint64_t sent = 0, received = 0;
    std::int64_t members = 0; ///< of the communicator
    std::int64_t me = 0;      ///< place of the process in it
    bool is_root = false;
};

/// Adds `size` and `recvSize` as far as they follow from the volume. False if something does not: of an
/// operation with a part of its own for each member, or where it is not known what was counted.
bool put_volume(Element& call, const CallFacts& facts, const CollectiveVolume& volume, Counted counted);

} // namespace hdtrace::importer::otf2
