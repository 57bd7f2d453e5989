/* A two-dimensional transform and back with FFTW's MPI interface; tells coefficients and whether the data
 * came back. */
#include <complex.h>
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>

enum { ROWS = 32, COLUMNS = 16 };

static double complex sample(ptrdiff_t i, ptrdiff_t j)
{
    return cos(2 * M_PI * (double)(3 * i) / ROWS) + I * sin(2 * M_PI * (double)(5 * j) / COLUMNS);
}

int main(int argc, char** argv)
{
    ptrdiff_t rows, first;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fftw_mpi_init();
    fftw_complex* data =
        fftw_alloc_complex((size_t)fftw_mpi_local_size_2d(ROWS, COLUMNS, MPI_COMM_WORLD, &rows, &first));
    fftw_plan forward =
        fftw_mpi_plan_dft_2d(ROWS, COLUMNS, data, data, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE);
    fftw_plan back =
        fftw_mpi_plan_dft_2d(ROWS, COLUMNS, data, data, MPI_COMM_WORLD, FFTW_BACKWARD, FFTW_ESTIMATE);
    for (ptrdiff_t place = 0; place < rows * COLUMNS; ++place) {
        data[place] = sample(first + place / COLUMNS, place % COLUMNS);
    }

    fftw_execute(forward);
    double power = 0, total_power, error = 0, worst;
    for (ptrdiff_t place = 0; place < rows * COLUMNS; ++place) {
        power += cabs(data[place]) * cabs(data[place]);
    }
    fftw_execute(back);
    for (ptrdiff_t place = 0; place < rows * COLUMNS; ++place) {
        error = fmax(error,
                     cabs(data[place] / (ROWS * COLUMNS) - sample(first + place / COLUMNS, place % COLUMNS)));
    }
    MPI_Reduce(&power, &total_power, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("power %.6e, came back: %s\n", total_power, worst < 1e-12 ? "yes" : "no");
    }
    fftw_destroy_plan(forward);
    fftw_destroy_plan(back);
    fftw_free(data);
    fftw_mpi_cleanup();
    MPI_Finalize();
    return 0;
}
