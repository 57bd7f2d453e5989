/* MPI calls inside each other, deeper than anybody wants to see: a reduction's operation that reduces. */
#include "check.h"

enum { DEPTH = 40 };

static MPI_Op op;
static int depth;

static void reduce(void* in, void* inout, int* count, MPI_Datatype* type)
{
    if (++depth < DEPTH)
        MPI_Reduce_local(in, inout, *count, *type, op);
    ++*(int*)inout;
}

int main(int argc, char** argv)
{
    int in = 0, inout = 0;
    begin(&argc, &argv);
    MPI_Op_create(reduce, 1, &op);
    MPI_Reduce_local(&in, &inout, 1, MPI_INT, op);
    CHECK(inout == DEPTH);
    MPI_Op_free(&op);
    return finish();
}
