#pragma once

namespace hdtrace::mpi {

/// The calling thread is in add_thread(), which gives null then: what the C library does there may end in
/// functions of the program, a heap of its own for example.
bool is_being_added();

} // namespace hdtrace::mpi
