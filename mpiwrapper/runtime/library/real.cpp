#include "mpiwrapper/runtime/library/real.h"

#include "mpiwrapper/runtime/library/find_once.h"
#include "mpiwrapper/runtime/regions/types.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

extern "C" const hdTracer* hdR_tracer(int version);

namespace hdtrace::mpi {

RealFunctions real;

namespace {

constexpr const char* names[] = {
#define HDT_REAL(name) "P" #name,
#include "real_functions.inc"
#undef HDT_REAL
};
constexpr int function_count = sizeof names / sizeof *names;

// A Fortran program names none of the wrappers: its bindings do. Who links the archive must get all of them
// all the same.
__attribute__((used)) const void* const wrappers[] = {
#define HDT_WRAPPED(name, standard_name, level, call_class, anytime, frees)                                  \
    reinterpret_cast<const void*>(&::name),
#include "wrapped_functions.inc"
#undef HDT_WRAPPED
};

// Nothing refers to it but weakly.
__attribute__((used)) const hdTracer* (*const tracer_is_needed)(int) = hdR_tracer;

// All other functions are found by name at run time, and a linker drops a library that nothing refers to.
__attribute__((used)) const void* const mpi_library_is_needed = reinterpret_cast<const void*>(&::MPI_Wtime);

// The program may run with an older MPI library than we were built for.
void* find(const char* name)
{
    void* const next = dlsym(RTLD_NEXT, name);
    if (next != nullptr)
        return next;
    // The library was loaded privately, out of the sight of RTLD_NEXT.
    void* const library = dlopen(HDTRACE_MPI_LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
    return library != nullptr ? dlsym(library, name) : nullptr;
}

// Stands in for a function that the MPI library does not have.
template <int Index> int missing()
{
    fprintf(
        stderr,
        "hdtrace: the program called %s, which its MPI library does not have; it has been built for another "
        "version than it runs with\n",
        names[Index] + 1);
    return MPI_ERR_OTHER;
}

template <int Index> void resolve_from(void** functions)
{
    if constexpr (Index < function_count) {
        functions[Index] = find(names[Index]);
        if (functions[Index] == nullptr)
            functions[Index] = reinterpret_cast<void*>(missing<Index>);
        resolve_from<Index + 1>(functions);
    }
}

RealFunctions resolve()
{
    static_assert(sizeof(RealFunctions) == function_count * sizeof(void*));
    RealFunctions found;
    resolve_from<0>(reinterpret_cast<void**>(&found));
    return found;
}

const char* base_name_of(const char* path)
{
    const char* const slash = strrchr(path, '/');
    return slash != nullptr ? slash + 1 : path;
}

} // namespace

const char* foreign_mpi_library()
{
    Dl_info library;
    if (dladdr(reinterpret_cast<void*>(real.MPI_Init), &library) == 0 || library.dli_fname == nullptr)
        return nullptr;
    const char* const name = base_name_of(library.dli_fname);
    // Another tool may stand between: only what calls itself an MPI library is one.
    const bool is_mpi_library = strncmp(name, "libmpi", strlen("libmpi")) == 0;
    const bool is_ours = strncmp(name, HDTRACE_MPI_LIBRARY, strlen(HDTRACE_MPI_LIBRARY)) == 0;
    return is_mpi_library && !is_ours ? library.dli_fname : nullptr;
}

void resolve_real_functions()
{
    static bool are_known = false;
    find_once(real, are_known, resolve);
}

} // namespace hdtrace::mpi
