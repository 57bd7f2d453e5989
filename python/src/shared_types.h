// shared_types.h - what several parts of the module hand out.
#pragma once

#include <cstdint>
#include <memory>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/format/trc_reader.h"

namespace hdtrace {

/// As Python holds it.
using ProjectPointer = std::shared_ptr<OpenedProject>;

/// A state with whose it is.
struct OwnedState : State {
    std::int64_t rank = 0;
    std::int64_t thread = 0;
};

} // namespace hdtrace
