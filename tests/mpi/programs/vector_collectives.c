/* The collectives with a count for each member: rank i gives and takes i elements, so rank 0 has none. */
#include "check.h"

static int counts[MOST_RANKS], places[MOST_RANKS], total;
static int mine[MOST_RANKS], all[MOST_RANKS * MOST_RANKS];

static void prepare(void)
{
    total = 0;
    for (int i = 0; i < size; ++i) {
        counts[i] = i;
        places[i] = total;
        total += i;
        mine[i] = rank;
    }
}

static void gather_and_scatter(void)
{
    if (rank == 0) {
        MPI_Gatherv(mine, rank, MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
        CHECK(size == 1 || all[total - 1] == size - 1);
        MPI_Scatterv(all, counts, places, MPI_INT, mine, rank, MPI_INT, 0, MPI_COMM_WORLD);
    } else { /* what is not significant is not valid either */
        MPI_Gatherv(mine, rank, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
        MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, mine, rank, MPI_INT, 0, MPI_COMM_WORLD);
        CHECK(mine[rank - 1] == rank);
    }
    MPI_Allgatherv(mine, rank, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    CHECK(size == 1 || all[total - 1] == size - 1);
    MPI_Reduce_scatter(all, mine, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(rank == 0 || mine[0] == rank * size);
}

/* Rank i sends j elements to rank j, so every rank receives as many from each as its own number. */
static void exchange(void)
{
    int from_each[MOST_RANKS], from_places[MOST_RANKS], to_bytes[MOST_RANKS], from_bytes[MOST_RANKS];
    int received[MOST_RANKS * MOST_RANKS];
    MPI_Datatype send_types[MOST_RANKS], receive_types[MOST_RANKS];
    for (int i = 0; i < size; ++i) {
        from_each[i] = rank;
        from_places[i] = rank * i;
        to_bytes[i] = places[i] * (int)sizeof(int);
        from_bytes[i] = from_places[i] * (int)sizeof(int);
        send_types[i] = MPI_INT;
        receive_types[i] = MPI_INT;
    }
    for (int i = 0; i < total; ++i) {
        all[i] = rank;
    }
    MPI_Alltoallv(all, counts, places, MPI_INT, received, from_each, from_places, MPI_INT, MPI_COMM_WORLD);
    CHECK(rank == 0 || received[rank * size - 1] == size - 1);
    memset(received, 0, sizeof received);
    MPI_Alltoallw(all, counts, to_bytes, send_types, received, from_each, from_bytes, receive_types,
                  MPI_COMM_WORLD);
    CHECK(rank == 0 || received[rank * size - 1] == size - 1);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    prepare();
    gather_and_scatter();
    exchange();
    return finish();
}
