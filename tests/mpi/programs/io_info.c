/* Hints on everything that takes them. */
#include "check.h"

int main(int argc, char** argv)
{
    MPI_File file;
    MPI_Info info;

    begin(&argc, &argv);
    MPI_Info_create(&info);
    MPI_Info_set(info, "access_style", "read_once");
    MPI_Info_set(info, "note", "a<b & 'c'");
    CHECK_MPI(MPI_File_open(MPI_COMM_WORLD, "hinted.data", MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    CHECK_MPI(MPI_File_set_info(file, info));
    CHECK_MPI(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", info));
    CHECK_MPI(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK_MPI(MPI_File_delete("hinted.data", info));
    }
    MPI_Info_free(&info);
    return finish();
}
