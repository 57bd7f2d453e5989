// What the program calls until it is known which wrapper it needs, and what leads to that wrapper then.
#pragma once

#include <stddef.h>

namespace hdtrace::mpi {

/// An exported function: it goes on to its target with all its arguments and the caller's return address as
/// they are. Before it has one, hdtrace_target_of() is asked.
struct Stub {
    const char* name;
    void* target;

    void lead_to(void* function) { __atomic_store_n(&target, function, __ATOMIC_RELEASE); }
};

/// All of them.
struct Stubs {
    Stub* begin() const;
    Stub* end() const;
};

} // namespace hdtrace::mpi

/// Where a call of the stub goes that has no target yet. @p first and @p second are its first arguments, if
/// they are pointers.
extern "C" __attribute__((visibility("hidden"))) void*
hdtrace_target_of(hdtrace::mpi::Stub* stub, const void* caller, void* first, const char* second);
