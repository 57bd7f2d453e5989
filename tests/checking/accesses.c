// One-sided accesses that are correct: through a dynamic window, with nothing to combine with, and to one
// place many times, in one epoch and in many. An argument says how many times.
#include <mpi.h>
#include <stdlib.h>

enum { values = 64 };

static void use_dynamic_window(int peer)
{
    static int shared[values];
    int got[values];
    MPI_Win window;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, shared, sizeof shared);
    MPI_Aint mine, theirs;
    MPI_Get_address(shared, &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, peer, 0, &theirs, 1, MPI_AINT, peer, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Win_lock_all(0, window);
    MPI_Get(got, values, MPI_INT, peer, theirs, values, MPI_INT, window);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(window, shared);
    MPI_Win_free(&window);
}

static void count_on_one_place(int times)
{
    int *counter, one = 1, counted;
    MPI_Win window;
    MPI_Win_allocate(sizeof *counter, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &window);
    MPI_Win_lock_all(0, window);
    MPI_Fetch_and_op(NULL, &counted, MPI_INT, 0, 0, MPI_NO_OP, window);
    MPI_Win_flush(0, window);
    for (int i = 0; i < times; ++i)
        MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < times; ++i) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Fetch_and_op(&one, &counted, MPI_INT, 0, 0, MPI_SUM, window);
        MPI_Win_unlock(0, window);
    }
    MPI_Win_free(&window);
}

int main(int argc, char** argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    use_dynamic_window(size - 1 - rank);
    count_on_one_place(argc > 1 ? atoi(argv[1]) : 100);
    MPI_Finalize();
    return 0;
}
