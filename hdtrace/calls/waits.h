// waits.h - what calls wait for.
#pragma once

#include "hdtrace/calls/calls.h"

namespace hdtrace {

/// Until all the requests that it is given are complete.
inline bool waits_for_all(const CallFacts& facts)
{
    return facts.progress == CallProgress::waits &&
           (facts.completes == WhichRequests::one || facts.completes == WhichRequests::all);
}

} // namespace hdtrace
