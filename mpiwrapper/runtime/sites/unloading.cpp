// Notices that the program unloads object files, so that addresses in them are not taken for those of the
// next file in their place.
#include "mpiwrapper/runtime/library/export.h"
#include "mpiwrapper/runtime/sites/call_sites.h"

#include <dlfcn.h>

using namespace hdtrace::mpi;

extern "C" HDT_EXPORT int dlclose(void* handle) noexcept
{
    const auto next = reinterpret_cast<decltype(&::dlclose)>(dlsym(RTLD_NEXT, "dlclose"));
    const int rc = next(handle);
    __atomic_add_fetch(&unloaded_objects, 1, __ATOMIC_RELAXED);
    return rc;
}
