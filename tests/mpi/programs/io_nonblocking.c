/* Independent accesses that do not block. ROMIO makes a generalized request in each of them. */
#include "io.h"

enum { ROUNDS = 3 };

int main(int argc, char** argv)
{
    MPI_Request request;

    begin(&argc, &argv);
    open_data();
    for (int round = 0; round < ROUNDS; ++round) {
        const MPI_Offset block = ((MPI_Offset)round * size + rank) * BLOCK_BYTES;
        CHECK_MPI(MPI_File_iwrite_at(file, block, sent, BLOCK, MPI_INT, &request));
        CHECK_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_MPI(MPI_File_iread_at(file, block, received, BLOCK, MPI_INT, &request));
        CHECK_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check_received();
    }
    close_data();
    return finish();
}
