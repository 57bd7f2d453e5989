// Memory that operations work on, and that the program changes before they are complete when it is asked to.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { count = 8, rows = 4 };

int main(int argc, char** argv)
{
    int rank;
    int sent[count] = {1, 2, 3}, received[2 * count] = {0}, matrix[rows][rows] = {{0}}, exposed[count] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int changes = strcmp(argv[1], "changes") == 0, peer = 1 - rank;
    MPI_Request requests[2];

    for (int i = 0; i < 4; ++i) { // when it ends nobody knows, so nothing is watched any more
        MPI_Send_init(sent, count, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]);
        MPI_Start(&requests[0]);
        MPI_Request_free(&requests[0]);
        MPI_Recv(received, count, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }

    MPI_Irecv(received, count, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
    if (changes) {
        received[0] = 99; // nothing has been sent yet
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(sent, count, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]);
    if (changes) {
        ++sent[1];
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

    MPI_Send_init(sent, count, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]);
    for (int i = 0; i < 2; ++i) {
        MPI_Start(&requests[0]);
        if (changes && i > 0) {
            ++sent[2]; // no watchpoint is there
        }
        MPI_Recv(received, count, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        ++sent[3]; // it is complete
    }
    MPI_Request_free(&requests[0]);
    MPI_Ssend(sent, count, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD); // nobody looks at it

    MPI_Win window;
    MPI_Win_create(exposed, sizeof exposed, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(sent, 1, MPI_INT, peer, 0, 1, MPI_INT, window);
    if (changes) {
        ++sent[0];
    }
    MPI_Win_fence(0, window);
    ++sent[0];
    MPI_Win_free(&window);

    // Neighbouring columns have no place in common; the same one has.
    MPI_Datatype column;
    MPI_Type_vector(rows, 1, rows, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Irecv(&matrix[0][1], 1, column, peer, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(&matrix[0][changes], 1, column, peer, 1, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Type_free(&column);

    MPI_Alltoall(sent, count / 2, MPI_INT, received, count / 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
