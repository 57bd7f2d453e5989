/* Delete functions ask for the communicator that is being freed; the next one gets its handle. */
#include "edge_cases.h"

static int last_words(MPI_Comm comm, int keyval, void* value, void* extra)
{
    int members = -1, topology = -1;
    (void)keyval, (void)value, (void)extra;
    MPI_Comm_size(comm, &members);
    MPI_Topo_test(comm, &topology);
    say("%d members", members);
    return MPI_SUCCESS;
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    int keyval = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, last_words, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, NULL);
    for (int i = 0; i < 5; ++i) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Barrier(comm);
        MPI_Comm_free(&comm);
    }
    MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
    MPI_Comm_free_keyval(&keyval);
    return finish();
}
