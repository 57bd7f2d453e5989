/* Access through the individual file pointer: independent, collective, non-blocking, split. */
#include "io.h"

static void seek_own_block(int region)
{
    CHECK_MPI(MPI_File_seek(file, ((MPI_Offset)region * size + rank) * BLOCK_BYTES, MPI_SEEK_SET));
}

static void blocking(void)
{
    MPI_Offset position;
    seek_own_block(0);
    CHECK_MPI(MPI_File_write(file, sent, BLOCK, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_get_position(file, &position));
    CHECK(position == (rank + 1) * BLOCK_BYTES);
    CHECK_MPI(MPI_File_seek(file, (size - 1) * BLOCK_BYTES, MPI_SEEK_CUR));
    CHECK_MPI(MPI_File_write_all(file, sent, BLOCK, MPI_INT, MPI_STATUS_IGNORE));
    hand_over();
    seek_own_block(0);
    CHECK_MPI(MPI_File_read(file, received, BLOCK, MPI_INT, MPI_STATUS_IGNORE));
    check_received();
    seek_own_block(1);
    CHECK_MPI(MPI_File_read_all(file, received, BLOCK, MPI_INT, MPI_STATUS_IGNORE));
    check_received();
}

static void nonblocking(void)
{
    MPI_Request request;
    seek_own_block(2);
    CHECK_MPI(MPI_File_iwrite(file, sent, BLOCK, MPI_INT, &request));
    wait_for(&request);
    seek_own_block(3);
    CHECK_MPI(MPI_File_iwrite_all(file, sent, BLOCK, MPI_INT, &request));
    wait_for(&request);
    hand_over();
    seek_own_block(2);
    CHECK_MPI(MPI_File_iread(file, received, BLOCK, MPI_INT, &request));
    wait_for(&request);
    check_received();
    seek_own_block(3);
    CHECK_MPI(MPI_File_iread_all(file, received, BLOCK, MPI_INT, &request));
    wait_for(&request);
    check_received();
}

static void split(void)
{
    seek_own_block(4);
    CHECK_MPI(MPI_File_write_all_begin(file, sent, BLOCK, MPI_INT));
    CHECK_MPI(MPI_File_write_all_end(file, sent, MPI_STATUS_IGNORE));
    hand_over();
    CHECK_MPI(MPI_File_seek(file, -(MPI_Offset)(size - rank) * BLOCK_BYTES, MPI_SEEK_END));
    CHECK_MPI(MPI_File_read_all_begin(file, received, BLOCK, MPI_INT));
    CHECK_MPI(MPI_File_read_all_end(file, received, MPI_STATUS_IGNORE));
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
