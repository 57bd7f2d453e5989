/* Accesses that ask for nothing, with statuses in which other numbers were: some MPI libraries leave these.
 */
#include "io.h"

static MPI_Status* used_status(void)
{
    static MPI_Status status;
    memset(&status, 0x41, sizeof status);
    return &status;
}

static void access_nothing(int count, MPI_Datatype type)
{
    CHECK_MPI(MPI_File_write_at(file, 0, sent, count, type, used_status()));
    CHECK_MPI(MPI_File_read_at(file, 0, received, count, type, used_status()));
    CHECK_MPI(MPI_File_write_at_all(file, 0, sent, count, type, used_status()));
    CHECK_MPI(MPI_File_read_at_all(file, 0, received, count, type, used_status()));
}

/* Open MPI 4.1 (ompio) divides by the size of an empty datatype here. */
static void split_nothing(void)
{
    CHECK_MPI(MPI_File_write_all_begin(file, sent, 0, MPI_INT));
    CHECK_MPI(MPI_File_write_all_end(file, sent, used_status()));
}

int main(int argc, char** argv)
{
    MPI_Datatype empty;
    begin(&argc, &argv);
    open_data();
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    access_nothing(0, MPI_INT);
    access_nothing(BLOCK, empty);
    split_nothing();
    MPI_Type_free(&empty);
    CHECK_MPI(MPI_Recv(received, BLOCK, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, used_status()));
    close_data();
    return finish();
}
