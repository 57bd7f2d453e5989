/* Access through the shared file pointer: in any order, one after another, non-blocking, split. */
#include "io.h"

static void rewind_shared(void)
{
    hand_over();
    CHECK_MPI(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
}

static void in_any_order(void)
{
    MPI_Offset position;
    CHECK_MPI(MPI_File_write_shared(file, sent, BLOCK, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_MPI(MPI_File_get_position_shared(file, &position));
    CHECK(position == size * BLOCK_BYTES);
    rewind_shared();
    CHECK_MPI(MPI_File_read_shared(file, received, BLOCK, MPI_INT, MPI_STATUS_IGNORE));
    rewind_shared();
}

static void one_after_another(void)
{
    CHECK_MPI(MPI_File_write_ordered(file, sent, BLOCK, MPI_INT, MPI_STATUS_IGNORE));
    rewind_shared();
    CHECK_MPI(MPI_File_read_ordered(file, received, BLOCK, MPI_INT, MPI_STATUS_IGNORE));
    check_received();
    rewind_shared();
    CHECK_MPI(MPI_File_write_ordered_begin(file, sent, BLOCK, MPI_INT));
    CHECK_MPI(MPI_File_write_ordered_end(file, sent, MPI_STATUS_IGNORE));
    rewind_shared();
    CHECK_MPI(MPI_File_read_ordered_begin(file, received, BLOCK, MPI_INT));
    CHECK_MPI(MPI_File_read_ordered_end(file, received, MPI_STATUS_IGNORE));
    check_received();
    rewind_shared();
}

static void nonblocking(void)
{
    MPI_Request request;
    CHECK_MPI(MPI_File_iwrite_shared(file, sent, BLOCK, MPI_INT, &request));
    wait_for(&request);
    rewind_shared();
    CHECK_MPI(MPI_File_iread_shared(file, received, BLOCK, MPI_INT, &request));
    wait_for(&request);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    open_data();
    in_any_order();
    one_after_another();
    nonblocking();
    close_data();
    return finish();
}
