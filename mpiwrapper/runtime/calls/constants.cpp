#include "mpiwrapper/runtime/calls/constants.h"

#include "mpiwrapper/runtime/library/real.h"

namespace hdtrace::mpi {

namespace {

#define HDT_NAMED(constant)                                                                                  \
    {                                                                                                        \
        constant, #constant                                                                                  \
    }

struct NamedOp {
    MPI_Op op;
    const char* name;
};

const NamedOp ops[] = {
    HDT_NAMED(MPI_SUM),     HDT_NAMED(MPI_MAX),   HDT_NAMED(MPI_MIN),    HDT_NAMED(MPI_PROD),
    HDT_NAMED(MPI_LAND),    HDT_NAMED(MPI_BAND),  HDT_NAMED(MPI_LOR),    HDT_NAMED(MPI_BOR),
    HDT_NAMED(MPI_LXOR),    HDT_NAMED(MPI_BXOR),  HDT_NAMED(MPI_MINLOC), HDT_NAMED(MPI_MAXLOC),
    HDT_NAMED(MPI_REPLACE), HDT_NAMED(MPI_NO_OP),
};

// Callbacks of the program can make up codes. Open MPI would call its error handler if asked about one.
bool is_code_of_mpi(int rc)
{
#ifdef OPEN_MPI
    const int* last = nullptr;
    int is_set = 0;
    if (real.MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &is_set) != MPI_SUCCESS || !is_set)
        return false;
    return rc >= 0 && rc <= *last;
#else
    return rc != MPI_SUCCESS;
#endif
}

} // namespace

int error_class_of(int rc)
{
    int error_class = rc;
    if (is_code_of_mpi(rc))
        real.MPI_Error_class(rc, &error_class);
    return error_class;
}

const char* error_class_name(int rc)
{
    const int error_class = error_class_of(rc);
    for (const NamedValue& candidate : error_class_names)
        if (candidate.value == error_class)
            return candidate.name;
    return "MPI_ERR_UNKNOWN"; // e.g. a class of the program's own
}

const char* op_name(MPI_Op op)
{
    for (const NamedOp& candidate : ops)
        if (candidate.op == op)
            return candidate.name;
    return op == MPI_OP_NULL ? "MPI_OP_NULL" : "USER";
}

} // namespace hdtrace::mpi
