/* What a simulation calls in each of its steps: halo STEPS FILE
 *
 * Neighbours in a ring exchange borders, all sum up, and every tenth time each process writes its part of
 * FILE. */
#include <mpi.h>
#include <stdlib.h>

enum { BORDER = 128, STEPS_BETWEEN_WRITES = 10 };

static void exchange(const double* border, double halo[2][BORDER], int left, int right)
{
    MPI_Request requests[4];
    MPI_Irecv(halo[0], BORDER, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(halo[1], BORDER, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(border, BORDER, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(border, BORDER, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv)
{
    static double border[BORDER], halo[2][BORDER];
    double mine = 1, sum;
    int rank, size;
    MPI_File file;
    if (argc != 3)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    for (int step = 1; step <= atoi(argv[1]); ++step) {
        exchange(border, halo, (rank + size - 1) % size, (rank + 1) % size);
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (step % STEPS_BETWEEN_WRITES == 0)
            MPI_File_write_at(file, (MPI_Offset)rank * sizeof border, border, BORDER, MPI_DOUBLE,
                              MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
