/* A reduction operation of the program's own. */
#include "check.h"

static void add(void* in, void* inout, int* length, MPI_Datatype* type)
{
    (void)type;
    for (int i = 0; i < *length; ++i) {
        ((int*)inout)[i] += ((int*)in)[i];
    }
}

int main(int argc, char** argv)
{
    MPI_Op operation;
    int commutes, sum;

    begin(&argc, &argv);
    MPI_Op_create(add, 1, &operation);
    MPI_Op_commutative(operation, &commutes);
    CHECK(commutes);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, operation, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1) / 2);
    MPI_Op_free(&operation);
    CHECK(operation == MPI_OP_NULL);
    return finish();
}
