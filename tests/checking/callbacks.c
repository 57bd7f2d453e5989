/* Frees objects in the functions that it has attached to others: one runs when a communicator is freed, one
 * in MPI_Finalize. */
#include <mpi.h>
#include <stddef.h>

static MPI_Comm inner;
static int of_outer, of_self;

static int free_inner(MPI_Comm comm, int key, void* value, void* state)
{
    (void)comm, (void)key, (void)value, (void)state;
    return MPI_Comm_free(&inner);
}

static int free_keys(MPI_Comm comm, int key, void* value, void* state)
{
    (void)comm, (void)key, (void)value, (void)state;
    MPI_Comm_free_keyval(&of_outer);
    return MPI_Comm_free_keyval(&of_self);
}

int main(int argc, char** argv)
{
    MPI_Comm outer;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &outer);
    MPI_Comm_dup(MPI_COMM_WORLD, &inner);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_inner, &of_outer, NULL);
    MPI_Comm_set_attr(outer, of_outer, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_keys, &of_self, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, of_self, NULL);
    MPI_Comm_free(&outer);
    MPI_Finalize();
    return 0;
}
