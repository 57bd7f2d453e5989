/* The last rank ends everything with a code of its own while the others wait; with an argument, in a function
 * that deletes an attribute. */
#include "check.h"

#include <unistd.h>

static int end_all(MPI_Comm comm, int key, void* value, void* extra)
{
    (void)key, (void)value, (void)extra;
    return MPI_Abort(comm, 7);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) {
        usleep(200000); /* now the others wait */
        if (argc > 1) {
            int key = MPI_KEYVAL_INVALID;
            MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_all, &key, NULL);
            MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL);
            MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
        }
        MPI_Abort(MPI_COMM_WORLD, 7);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return EXIT_SUCCESS;
}
