/* Programs that repeat themselves in known ways. ARGUMENT says which. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int rank, size, number, result;

static void compute(double milliseconds)
{
    const struct timespec time = {0, (long)(milliseconds * 1e6)};
    nanosleep(&time, NULL);
}

static void sum_up(void)
{
    MPI_Allreduce(&number, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Rank 2 takes longer in the 37th iteration. */
static void one_is_late(void)
{
    for (int i = 1; i <= 100; ++i) {
        compute(rank == 2 && i == 37 ? 62 : 2);
        sum_up();
    }
}

/* A solver needs more and fewer rounds in the steps. */
static void solver(void)
{
    for (int step = 0; step < 20; ++step) {
        MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
        compute(4);
        for (int round = 0; round < 3 + step % 5; ++round)
            sum_up();
    }
}

/* Every tenth step ends with something else. */
static void output(void)
{
    for (int step = 1; step <= 60; ++step) {
        compute(2);
        sum_up();
        if (step % 10 == 0)
            MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The first process calls from other places than the others. */
static void ring(void)
{
    for (int i = 0; i < 30; ++i) {
        compute(2);
        if (rank == 0) {
            MPI_Send(&number, 1, MPI_INT, 1 % size, 0, MPI_COMM_WORLD);
            MPI_Recv(&number, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&number, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&number, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
        }
    }
}

/* All exchange numbers with all, one after the other. */
static void neighbours(void)
{
    MPI_Request requests[64];
    int numbers[64];
    for (int i = 0; i < 40; ++i) {
        compute(2);
        for (int other = 0; other < size; ++other)
            MPI_Irecv(&numbers[other], 1, MPI_INT, other, 0, MPI_COMM_WORLD, &requests[other]);
        for (int other = 0; other < size; ++other)
            MPI_Send(&number, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
        MPI_Waitall(size, requests, MPI_STATUSES_IGNORE);
    }
}

/* Equally often. */
static void two_loops(void)
{
    for (int i = 0; i < 25; ++i) {
        compute(2);
        sum_up();
    }
    for (int i = 0; i < 25; ++i) {
        compute(3);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void nothing(void)
{
    compute(20);
    sum_up();
    compute(20);
    MPI_Barrier(MPI_COMM_WORLD);
}

static const struct {
    const char* name;
    void (*run)(void);
} ways[] = {{"one_is_late", one_is_late}, {"solver", solver},       {"output", output},  {"ring", ring},
            {"neighbours", neighbours},   {"two_loops", two_loops}, {"nothing", nothing}};

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i)
        if (argc == 2 && strcmp(argv[1], ways[i].name) == 0)
            ways[i].run();
    MPI_Finalize();
    return 0;
}
