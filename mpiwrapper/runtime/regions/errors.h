// What the program is told when it uses regions, marks and counters wrongly.
#pragma once

namespace hdtrace::mpi {

/// Reports the first error of each kind, and returns it. @p name is of what it is about; may be null.
int report(int error, const char* name);

} // namespace hdtrace::mpi
