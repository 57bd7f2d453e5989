// A trace of which only the last part is kept is written to several files in turn, its segments
// (docs/format.md): each is a whole trace by itself, and the next one goes over the oldest.
#pragma once

namespace hdtrace {

/// Of a trace: the first has its name, ….trc, the others a number behind it, ….trc.1.
inline constexpr int segment_count = 4;

} // namespace hdtrace
