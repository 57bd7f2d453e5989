/* Writes a matrix with parallel HDF5: each process has rows of its own, written with collective or
 * independent calls. */
#include "check.h"

#include <hdf5.h>

enum { ROWS_EACH = 64, COLUMNS = 512 };

static void write_matrix(hid_t file, const char* name, H5FD_mpio_xfer_t mode)
{
    static int values[ROWS_EACH][COLUMNS];
    const hsize_t whole[] = {(hsize_t)size * ROWS_EACH, COLUMNS}, part[] = {ROWS_EACH, COLUMNS};
    const hsize_t start[] = {(hsize_t)rank * ROWS_EACH, 0};
    const hid_t in_file = H5Screate_simple(2, whole, NULL), in_memory = H5Screate_simple(2, part, NULL);
    const hid_t dataset =
        H5Dcreate2(file, name, H5T_NATIVE_INT, in_file, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    for (int i = 0; i < ROWS_EACH; ++i) {
        for (int j = 0; j < COLUMNS; ++j) {
            values[i][j] = (rank * ROWS_EACH + i) * COLUMNS + j;
        }
    }
    H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, part, NULL);
    H5Pset_dxpl_mpio(transfer, mode);
    CHECK(H5Dwrite(dataset, H5T_NATIVE_INT, in_memory, in_file, transfer, values) >= 0);
    H5Pclose(transfer);
    H5Dclose(dataset);
    H5Sclose(in_memory);
    H5Sclose(in_file);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    const hid_t file = H5Fcreate("matrix.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    CHECK(file >= 0);
    write_matrix(file, "collective", H5FD_MPIO_COLLECTIVE);
    write_matrix(file, "independent", H5FD_MPIO_INDEPENDENT);
    CHECK(H5Fclose(file) >= 0);
    H5Pclose(access);
    return finish();
}
