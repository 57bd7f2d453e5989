/* Reads past the end of a file: half a block is there. Says how many bytes the MPI library tells of. */
#include "io.h"

static MPI_Offset at;

static void say(const char* way, const MPI_Status* status)
{
    int bytes;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    if (rank == 0)
        printf("%s %d\n", way, bytes);
}

/* Open MPI 4.1 (ompio) waits for ever for non-blocking and split reads past the end. */
#ifdef OPEN_MPI
enum { NONBLOCKING = 0 };
#else
enum { NONBLOCKING = 1 };
#endif

static void each_way(void)
{
    MPI_Status status;
    CHECK_MPI(MPI_File_read_at(file, at, received, BLOCK, MPI_INT, &status));
    say("File_read_at", &status);
    CHECK_MPI(MPI_File_read_at_all(file, at, received, BLOCK, MPI_INT, &status));
    say("File_read_at_all", &status);
    if (NONBLOCKING) {
        MPI_Request request;
        CHECK_MPI(MPI_File_iread_at(file, at, received, BLOCK, MPI_INT, &request));
        CHECK_MPI(MPI_Wait(&request, &status));
        say("File_iread_at", &status);
        CHECK_MPI(MPI_File_iread_at_all(file, at, received, BLOCK, MPI_INT, &request));
        CHECK_MPI(MPI_Waitall(1, &request, &status));
        say("File_iread_at_all", &status);
        CHECK_MPI(MPI_File_read_at_all_begin(file, at, received, BLOCK, MPI_INT));
        CHECK_MPI(MPI_File_read_at_all_end(file, received, &status));
        say("File_read_at_all_begin", &status);
    }
}

static void each_way_without_status(void)
{
    CHECK_MPI(MPI_File_read_at(file, at, received, BLOCK, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_read_at_all(file, at, received, BLOCK, MPI_INT, MPI_STATUS_IGNORE));
    if (NONBLOCKING) {
        MPI_Request request;
        CHECK_MPI(MPI_File_iread_at(file, at, received, BLOCK, MPI_INT, &request));
        CHECK_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_MPI(MPI_File_iread_at_all(file, at, received, BLOCK, MPI_INT, &request));
        CHECK_MPI(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
        CHECK_MPI(MPI_File_read_at_all_begin(file, at, received, BLOCK, MPI_INT));
        CHECK_MPI(MPI_File_read_at_all_end(file, received, MPI_STATUS_IGNORE));
    }
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    open_data();
    CHECK_MPI(MPI_File_set_size(file, 100));
    at = 100 - BLOCK_BYTES / 2;
    each_way();
    each_way_without_status();
    close_data();
    return finish();
}
