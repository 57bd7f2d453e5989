/* MPI calls inside an MPI call, whatever the MPI library: an attribute's copy callback that meets the others.
 */
#include "check.h"

static int meet(MPI_Comm comm, int key, void* state, void* old, void* new, int* keep)
{
    (void)key;
    (void)state;
    MPI_Barrier(comm);
    *(void**)new = old;
    *keep = 1;
    return MPI_SUCCESS;
}

int main(int argc, char** argv)
{
    MPI_Comm copy;
    int key, value = 1, *found, flag;

    begin(&argc, &argv);
    MPI_Comm_create_keyval(meet, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_get_attr(copy, key, &found, &flag);
    CHECK(flag && found == &value);
    MPI_Comm_free(&copy);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
    return finish();
}
