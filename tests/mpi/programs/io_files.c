/* Files as such: opened, described, sized, renamed by links, opened again, deleted. */
#include "check.h"

#include <unistd.h>

static MPI_File open_file(const char* name, int mode)
{
    MPI_File file;
    CHECK_MPI(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file));
    return file;
}

static void describe(MPI_File file)
{
    MPI_Offset bytes;
    MPI_Group group;
    MPI_Info info;
    int mode, atomic;
    CHECK_MPI(MPI_File_set_size(file, 1000));
    CHECK_MPI(MPI_File_get_size(file, &bytes));
    CHECK(bytes == 1000);
    MPI_Barrier(MPI_COMM_WORLD); /* nobody enlarges the file before all have looked */
    CHECK_MPI(MPI_File_preallocate(file, 2000));
    CHECK_MPI(MPI_File_get_size(file, &bytes));
    CHECK(bytes == 2000);
    CHECK_MPI(MPI_File_get_amode(file, &mode));
    CHECK(mode == (MPI_MODE_CREATE | MPI_MODE_RDWR));
    CHECK_MPI(MPI_File_get_group(file, &group));
    MPI_Group_free(&group);
    MPI_Info_create(&info);
    MPI_Info_set(info, "access_style", "write_once");
    CHECK_MPI(MPI_File_set_info(file, info));
    MPI_Info_free(&info);
    CHECK_MPI(MPI_File_get_info(file, &info));
    MPI_Info_free(&info);
    CHECK_MPI(MPI_File_set_atomicity(file, 0));
    if (MPI_File_set_atomicity(file, 1) == MPI_SUCCESS) { /* Open MPI has it for one process only */
        CHECK_MPI(MPI_File_get_atomicity(file, &atomic));
        CHECK(atomic);
    }
    CHECK_MPI(MPI_File_sync(file));
}

static void close_and_delete(MPI_File* file, const char* name)
{
    CHECK_MPI(MPI_File_close(file));
    CHECK(*file == MPI_FILE_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK_MPI(MPI_File_delete(name, MPI_INFO_NULL));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv)
{
    MPI_File first, second;

    begin(&argc, &argv);
    first = open_file("first.data", MPI_MODE_CREATE | MPI_MODE_RDWR);
    describe(first);
    second = open_file("second.data", MPI_MODE_CREATE | MPI_MODE_WRONLY);
    CHECK_MPI(MPI_File_close(&first));
    first = open_file("./first.data", MPI_MODE_RDONLY); /* the same file by another name */
    CHECK_MPI(MPI_File_close(&first));
    if (rank == 0) {
        CHECK(symlink("first.data", "link.data") == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    first = open_file("link.data", MPI_MODE_RDONLY); /* and by a third */
    close_and_delete(&first, "first.data");
    close_and_delete(&second, "second.data");
    return finish();
}
