/* Heat flows through a plate. Each process has a block of it and exchanges the edges with its neighbours:
 * a Cartesian communicator, a datatype for columns, and non-blocking messages. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 16, COLUMNS = 16, STEPS = 20, DIRECTIONS = 4 };

typedef double Plate[ROWS + 2][COLUMNS + 2];

static Plate plates[2];

/* Sends the edges of the block to the neighbours and receives theirs into the frame around it. */
static void exchange_edges(Plate plate, MPI_Comm grid, MPI_Datatype column)
{
    MPI_Request requests[2 * DIRECTIONS];
    int up, down, left, right;
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    MPI_Irecv(&plate[0][1], COLUMNS, MPI_DOUBLE, up, 0, grid, &requests[0]);
    MPI_Irecv(&plate[ROWS + 1][1], COLUMNS, MPI_DOUBLE, down, 1, grid, &requests[1]);
    MPI_Irecv(&plate[1][0], 1, column, left, 2, grid, &requests[2]);
    MPI_Irecv(&plate[1][COLUMNS + 1], 1, column, right, 3, grid, &requests[3]);
    MPI_Isend(&plate[ROWS][1], COLUMNS, MPI_DOUBLE, down, 0, grid, &requests[4]);
    MPI_Isend(&plate[1][1], COLUMNS, MPI_DOUBLE, up, 1, grid, &requests[5]);
    MPI_Isend(&plate[1][COLUMNS], 1, column, right, 2, grid, &requests[6]);
    MPI_Isend(&plate[1][1], 1, column, left, 3, grid, &requests[7]);
    MPI_Waitall(2 * DIRECTIONS, requests, MPI_STATUSES_IGNORE);
}

/* Computes the next state of the block; returns how much changed. */
static double flow(Plate now, Plate next)
{
    double change = 0;
    for (int i = 1; i <= ROWS; ++i) {
        for (int j = 1; j <= COLUMNS; ++j) {
            next[i][j] = (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1]) / 4;
            change += (next[i][j] - now[i][j]) * (next[i][j] - now[i][j]);
        }
    }
    return change;
}

int main(int argc, char** argv)
{
    int size, rank, dims[2] = {0, 0}, place[2];
    const int periods[2] = {0, 0};
    double change = 0;
    MPI_Comm grid;
    MPI_Datatype column;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_set_name(grid, "plate");
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, place);
    MPI_Type_vector(ROWS, 1, COLUMNS + 2, MPI_DOUBLE, &column);
    MPI_Type_set_name(column, "column");
    MPI_Type_commit(&column);

    if (place[0] == 0) { /* the upper edge of the plate is hot */
        for (int j = 0; j < COLUMNS + 2; ++j) {
            plates[0][0][j] = plates[1][0][j] = 100;
        }
    }
    for (int step = 0; step < STEPS; ++step) {
        exchange_edges(plates[step % 2], grid, column);
        change = flow(plates[step % 2], plates[(step + 1) % 2]);
        MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_SUM, grid);
    }
    if (rank == 0) {
        printf("After %d steps the plate still changes by %.3f\n", STEPS, change);
    }
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
