/* Views: where accesses land in the file. Each process sees its own blocks of two ints, behind a header of
 * 100 bytes. */
#include "io.h"

enum { HEADER = 100, VIEW_BLOCK = 2 };

static MPI_Datatype make_filetype(void)
{
    MPI_Datatype block, filetype;
    MPI_Type_contiguous(VIEW_BLOCK, MPI_INT, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)size * VIEW_BLOCK * (MPI_Aint)sizeof(int), &filetype);
    MPI_Type_commit(&filetype);
    MPI_Type_free(&block);
    return filetype;
}

static void check_view(MPI_Offset expected)
{
    char representation[MPI_MAX_DATAREP_STRING];
    MPI_Offset displacement;
    MPI_Datatype etype, filetype;
    int integers, addresses, types, combiner;
    CHECK_MPI(MPI_File_get_view(file, &displacement, &etype, &filetype, representation));
    CHECK(displacement == expected && strcmp(representation, "native") == 0);
    MPI_Type_get_envelope(filetype, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED) {
        MPI_Type_free(&filetype);
    }
}

static void check_byte_offset(MPI_Offset view_offset)
{
    MPI_Offset bytes;
    const MPI_Offset start = HEADER + rank * VIEW_BLOCK * (MPI_Offset)sizeof(int);
    const MPI_Offset whole = view_offset / VIEW_BLOCK, rest = view_offset % VIEW_BLOCK;
    CHECK_MPI(MPI_File_get_byte_offset(file, view_offset, &bytes));
    CHECK(bytes ==
          start + whole * size * VIEW_BLOCK * (MPI_Offset)sizeof(int) + rest * (MPI_Offset)sizeof(int));
}

int main(int argc, char** argv)
{
    MPI_Datatype filetype;
    MPI_Aint extent;
    MPI_Offset position;
    MPI_Request request;

    begin(&argc, &argv);
    open_data();
    check_view(0);
    filetype = make_filetype();
    CHECK_MPI(MPI_File_set_view(file, HEADER + rank * VIEW_BLOCK * (MPI_Offset)sizeof(int), MPI_INT, filetype,
                                "native", MPI_INFO_NULL));
    check_view(HEADER + rank * VIEW_BLOCK * (MPI_Offset)sizeof(int));
    CHECK_MPI(MPI_File_get_type_extent(file, MPI_INT, &extent));
    CHECK(extent == sizeof(int));

    CHECK_MPI(MPI_File_write_all(file, sent, BLOCK, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_get_position(file, &position));
    CHECK(position == BLOCK);
    check_byte_offset(position);
    check_byte_offset(position + 1);
    CHECK_MPI(MPI_File_write(file, sent, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_write(file, sent, BLOCK, MPI_INT, MPI_STATUS_IGNORE)); /* starts inside a block */
    CHECK_MPI(MPI_File_write_at(file, 21, sent, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_iwrite_at(file, 22, sent, BLOCK, MPI_INT, &request));
    wait_for(&request);
    hand_over();
    CHECK_MPI(MPI_File_read_at(file, 0, received, BLOCK, MPI_INT, MPI_STATUS_IGNORE));
    check_received();
    CHECK_MPI(MPI_File_seek(file, 5, MPI_SEEK_SET));
    CHECK_MPI(MPI_File_seek(file, -1, MPI_SEEK_CUR));
    CHECK_MPI(MPI_File_read_all(file, received, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(received[0] == sent[0]);
    MPI_Type_free(&filetype);

    CHECK_MPI(MPI_File_set_view(file, 8, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
    CHECK_MPI(MPI_File_write_at(file, 3, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
    close_data();
    return finish();
}
