/* Writes blocks and strided columns of a matrix with PnetCDF, collectively, independently and by non-blocking
 * calls; reads them back. */
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 8, COLUMNS = 5 };

static void check(int status)
{
    if (status != NC_NOERR) {
        fprintf(stderr, "PnetCDF: %s\n", ncmpi_strerror(status));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static int sum(const int* values, int count)
{
    int result = 0;
    for (int i = 0; i < count; ++i) {
        result += values[i];
    }
    return result;
}

int main(int argc, char** argv)
{
    int rank, size, file, dimensions[2], blocks, columns, request, status;
    MPI_Info hints;
    int values[ROWS * COLUMNS], column[ROWS], back[ROWS * COLUMNS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ROWS * COLUMNS; ++i) {
        values[i] = 1000 * (rank + 1) + i;
    }
    for (int i = 0; i < ROWS; ++i) {
        column[i] = 100000 * (rank + 1) + i;
    }

    /* PnetCDF 1.15 has a driver of its own, which calls the operating system. */
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "nc_driver", "mpiio");
    check(ncmpi_create(MPI_COMM_WORLD, "matrix.nc", NC_CLOBBER, hints, &file));
    MPI_Info_free(&hints);
    check(ncmpi_def_dim(file, "row", (MPI_Offset)ROWS * size, &dimensions[0]));
    check(ncmpi_def_dim(file, "column", COLUMNS, &dimensions[1]));
    check(ncmpi_def_var(file, "blocks", NC_INT, 2, dimensions, &blocks));
    check(ncmpi_def_var(file, "columns", NC_INT, 2, dimensions, &columns));
    check(ncmpi_put_att_text(file, NC_GLOBAL, "title", 7, "hdtrace"));
    check(ncmpi_enddef(file));

    const MPI_Offset start[] = {(MPI_Offset)ROWS * rank, 0}, count[] = {ROWS, COLUMNS};
    check(ncmpi_put_vara_int_all(file, blocks, start, count, values));
    const MPI_Offset strided_start[] = {rank, 2}, strided_count[] = {ROWS, 1}, stride[] = {size, 1};
    check(ncmpi_iput_vars_int(file, columns, strided_start, strided_count, stride, column, &request));
    check(ncmpi_wait_all(file, 1, &request, &status));
    check(status);
    check(ncmpi_begin_indep_data(file));
    const MPI_Offset single[] = {(MPI_Offset)ROWS * rank, 4};
    check(ncmpi_put_var1_int(file, columns, single, &rank));
    check(ncmpi_end_indep_data(file));

    const MPI_Offset other[] = {(MPI_Offset)ROWS * ((rank + 1) % size), 0};
    check(ncmpi_get_vara_int_all(file, blocks, other, count, back));
    check(ncmpi_close(file));
    int total = sum(back, ROWS * COLUMNS), all;
    MPI_Reduce(&total, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d processes, sum of all blocks %d\n", size, all);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}
