/* All processes write one matrix to a file, each its own columns, through a view of the file; then they read
 * rows. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 8, COLUMNS_EACH = 4 };

static const char name[] = "matrix.data";

static MPI_File open_matrix(int mode)
{
    MPI_File file;
    if (MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
        fprintf(stderr, "cannot open %s\n", name);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return file;
}

static void write_columns(int rank, int size)
{
    int values[ROWS][COLUMNS_EACH];
    const int matrix[] = {ROWS, size * COLUMNS_EACH}, part[] = {ROWS, COLUMNS_EACH},
              start[] = {0, rank * COLUMNS_EACH};
    MPI_Datatype columns;
    MPI_File file = open_matrix(MPI_MODE_CREATE | MPI_MODE_WRONLY);
    for (int i = 0; i < ROWS; ++i) {
        for (int j = 0; j < COLUMNS_EACH; ++j) {
            values[i][j] = i * matrix[1] + start[1] + j;
        }
    }
    MPI_Type_create_subarray(2, matrix, part, start, MPI_ORDER_C, MPI_INT, &columns);
    MPI_Type_commit(&columns);
    MPI_File_set_view(file, 0, MPI_INT, columns, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, values, ROWS * COLUMNS_EACH, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Type_free(&columns);
    MPI_File_close(&file);
}

/* Each process reads every size-th row; returns how many values are wrong. */
static int count_errors_in_rows(int rank, int size)
{
    const int length = size * COLUMNS_EACH;
    int errors = 0, *row = malloc((size_t)length * sizeof *row);
    MPI_File file = open_matrix(MPI_MODE_RDONLY);
    for (int i = rank; i < ROWS; i += size) {
        MPI_File_read_at(file, (MPI_Offset)i * length * (MPI_Offset)sizeof *row, row, length, MPI_INT,
                         MPI_STATUS_IGNORE);
        for (int j = 0; j < length; ++j) {
            errors += row[j] != i * length + j;
        }
    }
    MPI_File_close(&file);
    free(row);
    return errors;
}

int main(int argc, char** argv)
{
    int rank, size, errors;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    write_columns(rank, size);
    errors = count_errors_in_rows(rank, size);
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d of %d values are wrong\n", errors, ROWS * size * COLUMNS_EACH);
    }
    MPI_Finalize();
    return errors == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
