// Descriptors that the tracer keeps inside a foreign program.
#pragma once

namespace hdtrace {

/// Gives it a high number that is closed on exec, so that the program gets the same numbers for its own files
/// as without us. Returns the new one.
int move_up(int descriptor);

/// Half of the descriptors are for the program itself: one that is scarce is not to be kept.
bool is_scarce(int descriptor);

/// Lets the kernel enlarge its table of this process's descriptors for ours. With several threads that takes
/// some 20 ms, since it waits until no processor looks at the old one; with one thread it takes none, so call
/// this before others appear.
void make_room_for_descriptors();

} // namespace hdtrace
