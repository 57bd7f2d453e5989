// Datatypes: ids, sizes and their description in the .info.
#pragma once

#include "mpiwrapper/runtime/library/mpi_api.h"
#include "mpiwrapper/runtime/objects/handle.h"

#include <stdint.h>

namespace hdtrace::mpi {

struct Type {
    int64_t id = -1;
    int64_t size = 0; ///< bytes of data in one element
};

/// Must be called once, after MPI_Init.
void start_datatypes();

/// The datatype of a handle, described in the .info before this returns. With @p may_ask false only handles
/// that are known or predefined are looked up, since a call that failed may have been given anything.
Type find_type(MPI_Datatype handle, bool may_ask);
/// The same for a datatype that was just made of others. (A library may answer MPI_Type_get_contents with
/// copies, whose handles tell nothing.)
Type find_type_made_of(MPI_Datatype handle, const MPI_Datatype* components, int count);
/// Remembers the name that the program gave it.
void name_type(const Type& type, const char* name);

/// Ended whenever a datatype was freed.
extern Generations<MPI_Datatype> type_generations;

} // namespace hdtrace::mpi
