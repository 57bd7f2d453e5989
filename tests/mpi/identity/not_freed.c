/* Communicators that MPI cannot free at first, since an attribute's delete function refuses it: they go on to
 * be used. Their ranks are not those of MPI_COMM_WORLD. With an argument nobody tries again. */
#include "../programs/check.h"

static int must_be_kept;

static int copy_attribute(MPI_Comm comm, int key, void* state, void* value, void* copied, int* flag)
{
    (void)comm, (void)key, (void)state;
    *(void**)copied = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void* value, void* state)
{
    (void)comm, (void)key, (void)value, (void)state;
    return must_be_kept ? MPI_ERR_OTHER : MPI_SUCCESS;
}

/* The attribute is there from its beginning on. */
static MPI_Comm make(MPI_Comm reversed)
{
    MPI_Comm copy;
    MPI_Comm_dup(reversed, &copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    return copy;
}

static void use(MPI_Comm reversed)
{
    int sender = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &sender, 1, MPI_INT, right, 0, reversed, MPI_STATUS_IGNORE);
    CHECK(sender == (2 * size - 2 - rank) % size);
}

int main(int argc, char** argv)
{
    MPI_Comm reversed, comm;
    int key, value = 0;
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Comm_set_attr(reversed, key, &value);
    for (int disconnects = 0; disconnects < 2; ++disconnects) {
        comm = make(reversed);
        must_be_kept = 1;
        const int rc = disconnects ? MPI_Comm_disconnect(&comm) : MPI_Comm_free(&comm);
        CHECK(comm != MPI_COMM_NULL && (disconnects || rc != MPI_SUCCESS));
        must_be_kept = 0;
        use(comm);
        if (argc == 1) {
            CHECK_MPI(MPI_Comm_free(&comm));
        }
    }
    MPI_Comm_free(&reversed);
    MPI_Comm_free_keyval(&key);
    return finish();
}
