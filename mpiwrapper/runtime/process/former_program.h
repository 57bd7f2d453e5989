// What the process ran before it executed the program that it runs now.
#pragma once

namespace hdtrace::mpi {

/// Whether such a program of this process has written the .info.
bool is_from_former_program(const char* info_path);

} // namespace hdtrace::mpi
