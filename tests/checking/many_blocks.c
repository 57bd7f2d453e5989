// Messages of ints that lie apart, in a datatype of very many blocks. Two are received at once, into ints
// between each other's. Arguments: `regular` for blocks at equal distances, and `overlap` for ints that both
// receive.
#include <mpi.h>
#include <string.h>

enum { blocks = 3000, most = 3 * blocks + 10 };

/* Every third int, or the one behind it at times. */
static int place(int i, int is_regular)
{
    return 3 * i + (!is_regular && i % 7 == 3 ? 1 : 0);
}

static void receive_two(int rank, int is_regular, int shift)
{
    static int places[blocks], memory[most];
    const int peer = 1 - rank;
    MPI_Datatype type;
    MPI_Request requests[2];
    for (int i = 0; i < blocks; ++i)
        places[i] = place(i, is_regular);
    MPI_Type_create_indexed_block(blocks, 1, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    if (rank == 0) {
        MPI_Send(memory, 1, type, peer, 1, MPI_COMM_WORLD);
        MPI_Send(memory, blocks, MPI_INT, peer, 2, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(memory, 1, type, peer, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(memory + shift, 1, type, peer, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Type_free(&type);
}

int main(int argc, char** argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc == 3)
        receive_two(rank, strcmp(argv[1], "regular") == 0, strcmp(argv[2], "overlap") == 0 ? 3 : 1);
    MPI_Finalize();
    return 0;
}
