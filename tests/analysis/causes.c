/* Programs whose waiting has known causes. ARGUMENT says which; who computes says "RANK SECONDS": how long.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int rank, size, number;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static void compute(int milliseconds)
{
    const double begin = now();
    const struct timespec time = {0, milliseconds * 1000000L};
    nanosleep(&time, NULL);
    printf("%d %.6f\n", rank, now() - begin);
    fflush(stdout);
}

#define send(to) MPI_Send(&number, 1, MPI_INT, to, 0, MPI_COMM_WORLD)
#define receive(from) MPI_Recv(&number, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)

/* The first one makes the second one late, that the third one, and so on. */
static void chain(void)
{
    if (rank == 0) {
        compute(100);
    } else {
        receive(rank - 1);
    }
    if (rank + 1 < size) {
        send(rank + 1);
    }
}

/* Two processes are late for a third one, each in its own way. */
static void two_causes(void)
{
    if (rank == 0) {
        compute(60);
        send(1);
    } else if (rank == 1) {
        receive(0);
        compute(90);
        send(2);
    } else if (rank == 2) {
        receive(1);
    }
}

/* Rank 1 has three times as much to do as the others. */
static void imbalance(void)
{
    for (int i = 0; i < 3; ++i) {
        compute(rank == 1 ? 60 : 20);
        MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* All have the same to do. */
static void balanced(void)
{
    compute(150);
}

int main(int argc, char** argv)
{
    const char* const way = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(way, "chain") == 0) {
        chain();
    } else if (strcmp(way, "two_causes") == 0) {
        two_causes();
    } else if (strcmp(way, "imbalance") == 0) {
        imbalance();
    } else {
        balanced();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
