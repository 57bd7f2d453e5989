// The functions to which ours of the same name go on.
#pragma once

#include <dlfcn.h>

namespace hdtrace::mpi {

/// Fills in a pointer to the function behind ours: the C library's, or that of another tool between. To be
/// called when this library is loaded, because dlsym() is not safe in signal handlers.
template <typename Function> void find_next(Function& function, const char* name)
{
    function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

} // namespace hdtrace::mpi
