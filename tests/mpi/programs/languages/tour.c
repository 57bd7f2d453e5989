/* A short tour through MPI; the programs beside this one make the same calls. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv)
{
    int rank, size, mine, from_left = -1, all[64], column[6] = {0}, i;
    MPI_Request request;
    MPI_Comm copy;
    MPI_Datatype vector;
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine = rank;
    MPI_Irecv(&from_left, 1, MPI_INTEGER, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &request);
    MPI_Send(&mine, 1, MPI_INTEGER, (rank + 1) % size, 7, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Bcast(&mine, 1, MPI_INTEGER, 0, MPI_COMM_WORLD);
    for (i = 0; i < size; ++i) {
        all[i] = rank;
    }
    MPI_Allreduce(MPI_IN_PLACE, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD);
    MPI_Gather(&rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0, MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Type_vector(3, 1, 2, MPI_INTEGER, &vector);
    MPI_Type_commit(&vector);
    MPI_Sendrecv_replace(column, 1, vector, (rank + 1) % size, 8, MPI_ANY_SOURCE, MPI_ANY_TAG, copy,
                         MPI_STATUS_IGNORE);
    MPI_Send(&mine, 1, MPI_INTEGER, MPI_PROC_NULL, 9, copy);
    MPI_Type_free(&vector);
    MPI_File_open(copy, "tour.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, (MPI_Offset)rank * 4, &rank, 1, MPI_INTEGER, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Comm_free(&copy);
    if (rank == 0) {
        printf("last rank %d, from the left %d\n", all[size - 1], from_left);
    }
    MPI_Finalize();
    return 0;
}
