// Sends the first int of three twice and the last one, in a datatype that is as large as all three. With
// `overlap` the last one is received meanwhile, else the one between, which is not sent.
#include <mpi.h>
#include <string.h>

int main(int argc, char** argv)
{
    int memory[3] = {1, 2, 3}, places[3] = {0, 0, 2}, received[3], rank;
    MPI_Datatype type;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int peer = 1 - rank;
    MPI_Type_create_indexed_block(3, 1, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    if (argc == 2) {
        MPI_Isend(memory, 1, type, peer, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(memory + (strcmp(argv[1], "overlap") == 0 ? 2 : 1), 1, MPI_INT, peer, 2, MPI_COMM_WORLD,
                  &requests[1]);
        MPI_Send(&rank, 1, MPI_INT, peer, 2, MPI_COMM_WORLD);
        MPI_Recv(received, 3, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
