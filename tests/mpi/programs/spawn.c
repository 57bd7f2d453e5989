/* A parent starts two children, then two programs at once; the children are the same program. */
#include "check.h"

/* Communicators with members of both worlds. */
static void work_together(MPI_Comm between, int is_child)
{
    MPI_Comm all, half;
    int place;
    MPI_Intercomm_merge(between, is_child, &all);
    MPI_Comm_rank(all, &place);
    MPI_Comm_split(all, place % 2, 0, &half);
    MPI_Barrier(half);
    MPI_Comm_free(&half);
    MPI_Comm_free(&all);
}

static void talk_to_parent(MPI_Comm parent)
{
    int value;
    MPI_Bcast(&value, 1, MPI_INT, 0, parent);
    CHECK(value == 99);
    if (rank == 0) {
        MPI_Send(&value, 1, MPI_INT, 0, 6, parent);
    }
    work_together(parent, 1);
    MPI_Comm_disconnect(&parent);
}

static void talk_to_children(MPI_Comm children)
{
    int value = 99, count;
    MPI_Comm_remote_size(children, &count);
    CHECK(count == 2);
    MPI_Bcast(&value, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children);
    if (rank == 0) {
        MPI_Recv(&value, 1, MPI_INT, 0, 6, children, MPI_STATUS_IGNORE);
    }
    work_together(children, 0);
    MPI_Comm_disconnect(&children);
}

int main(int argc, char** argv)
{
    MPI_Comm parent, children;

    begin(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        talk_to_parent(parent);
        MPI_Finalize();
        return EXIT_SUCCESS;
    }
    char* arguments[] = {"one", "two & three", NULL};
    int errors[2];
    MPI_Comm_spawn(argv[0], arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, errors);
    talk_to_children(children);
    char* programs[] = {argv[0], argv[0]};
    const int counts[] = {1, 1};
    const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm_spawn_multiple(2, programs, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_WORLD, &children,
                            MPI_ERRCODES_IGNORE);
    talk_to_children(children);
    return finish();
}
