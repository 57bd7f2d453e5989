/* Every collective operation without count arrays, on all datatypes' simplest. */
#include "check.h"

static int all[MOST_RANKS], one[MOST_RANKS];

static void move_data(void)
{
    const int root = size - 1;
    int value = rank == root ? 42 : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(value == 42);
    if (rank == root) {
        MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, root, MPI_COMM_WORLD);
        CHECK(all[root] == root);
        MPI_Scatter(all, 1, MPI_INT, &value, 1, MPI_INT, root, MPI_COMM_WORLD);
    } else { /* what is not significant is not valid either */
        MPI_Gather(&rank, 1, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
        MPI_Scatter(NULL, -1, MPI_DATATYPE_NULL, &value, 1, MPI_INT, root, MPI_COMM_WORLD);
    }
    CHECK(value == rank);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[right] == right);
    MPI_Alltoall(all, 1, MPI_INT, one, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(one[left] == rank);
}

static void reduce(void)
{
    const int sum_of_ranks = size * (size - 1) / 2;
    int value = 0, ones[MOST_RANKS], counts[MOST_RANKS];
    for (int i = 0; i < MOST_RANKS; ++i) {
        ones[i] = 1;
        counts[i] = 1;
    }
    MPI_Reduce(&rank, &value, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    CHECK(rank != 0 || value == sum_of_ranks);
    MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(value == size - 1);
    MPI_Reduce_scatter(ones, &value, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(value == size);
    MPI_Reduce_scatter_block(ones, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(value == size);
    MPI_Scan(ones, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(value == rank + 1);
    MPI_Exscan(ones, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(rank == 0 || value == rank);
    MPI_Reduce_local(ones, ones + 1, 2, MPI_INT, MPI_SUM);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    move_data();
    reduce();
    MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
    return finish();
}
