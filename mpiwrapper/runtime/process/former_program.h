// What the process ran before it executed the program that it runs now.
#pragma once

#include <stdint.h>

namespace hdtrace::mpi {

/// When the process began, in whole seconds since the epoch; executing another program does not change that.
int64_t begin_of_process();

/// Whether such a program of this process has written the .info.
bool is_from_former_program(const char* info_path);

} // namespace hdtrace::mpi
