// state.h - a call or a state of the program, or a moment, as all readers of traces hand it out.
#pragma once

#include <cstdint>
#include <vector>

#include "hdtrace/format/element.h"

namespace hdtrace {

/// A state (a call with a start and an end) or an event (a moment).
struct State : Element {
    std::int64_t time = 0;         ///< nanoseconds since the epoch
    std::int64_t end = 0;          ///< nanoseconds since the epoch; of an event: its time
    std::vector<Element> children; ///< `For`, `Send`, `Info`, ...
    std::vector<State> nested;     ///< what was called inside this state
    std::int64_t line = 0;         ///< where it stands in the file, counted from 1; 0 is unknown
    bool is_event = false;

    /// Whether the process ended inside this state: `end` is when it was last seen there, and other
    /// attributes are missing.
    bool is_unfinished() const
    {
        const auto unfinished = find("unfinished");
        return unfinished && *unfinished == "1";
    }

    bool operator==(const State&) const = default;
};

} // namespace hdtrace
