/* Access at explicit offsets: independent, collective, non-blocking, split. Each way has its own region of
 * the file. */
#include "io.h"

static MPI_Offset own_block(int region)
{
    return ((MPI_Offset)region * size + rank) * BLOCK_BYTES;
}

static void blocking(void)
{
    MPI_Status status;
    CHECK_MPI(MPI_File_write_at(file, own_block(0), sent, BLOCK, MPI_INT, &status));
    check_count(&status);
    CHECK_MPI(MPI_File_write_at_all(file, own_block(1), sent, BLOCK, MPI_INT, MPI_STATUS_IGNORE));
    hand_over();
    CHECK_MPI(MPI_File_read_at(file, own_block(0), received, BLOCK, MPI_INT, &status));
    check_received();
    CHECK_MPI(MPI_File_read_at_all(file, own_block(1), received, BLOCK, MPI_INT, &status));
    check_received();
}

static void nonblocking(void)
{
    MPI_Request requests[2];
    CHECK_MPI(MPI_File_iwrite_at(file, own_block(2), sent, BLOCK, MPI_INT, &requests[0]));
    CHECK_MPI(MPI_File_iwrite_at_all(file, own_block(3), sent, BLOCK, MPI_INT, &requests[1]));
    CHECK_MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    hand_over();
    CHECK_MPI(MPI_File_iread_at(file, own_block(2), received, BLOCK, MPI_INT, &requests[0]));
    wait_for(&requests[0]);
    check_received();
    CHECK_MPI(MPI_File_iread_at_all(file, own_block(3), received, BLOCK, MPI_INT, &requests[0]));
    wait_for(&requests[0]);
    check_received();
}

static void split(void)
{
    MPI_Status status;
    CHECK_MPI(MPI_File_write_at_all_begin(file, own_block(4), sent, BLOCK, MPI_INT));
    CHECK_MPI(MPI_File_write_at_all_end(file, sent, &status));
    hand_over();
    CHECK_MPI(MPI_File_read_at_all_begin(file, own_block(4), received, BLOCK, MPI_INT));
    CHECK_MPI(MPI_File_read_at_all_end(file, received, &status));
    check_count(&status);
    check_received();
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    open_data();
    blocking();
    nonblocking();
    split();
    close_data();
    return finish();
}
