/* What MPI 5 tells of its binary interface. The library may know how Fortran is compiled and refuse to be
 * told. */
#include "check.h"

static void booleans(void)
{
    int yes = 1, no = 0, is_set = -1;
    MPI_Abi_get_fortran_booleans(sizeof(int), &yes, &no, &is_set);
    CHECK(is_set == 0 || is_set == 1);
    MPI_Abi_set_fortran_booleans(sizeof(int), &yes, &no);
}

int main(int argc, char** argv)
{
    MPI_Info info = MPI_INFO_NULL;
    int major = -2, minor = -2;
    begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPI_Abi_get_version(&major, &minor) == MPI_SUCCESS && major >= -1 && minor >= -1);
    CHECK(MPI_Abi_get_info(&info) == MPI_SUCCESS);
    if (info != MPI_INFO_NULL) {
        MPI_Info_free(&info);
    }
    info = MPI_INFO_NULL;
    MPI_Abi_get_fortran_info(&info);
    MPI_Abi_set_fortran_info(info);
    if (info != MPI_INFO_NULL) {
        MPI_Info_free(&info);
    }
    booleans();
    return finish();
}
