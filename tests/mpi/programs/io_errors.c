/* Files that are not there, calls that fail, error handlers on files, data representations. */
#include "check.h"

static int handled;

static void count_error(MPI_File* file, int* code, ...)
{
    (void)file;
    (void)code;
    ++handled;
}

static int extent_of_datarep(MPI_Datatype type, MPI_Aint* extent, void* state)
{
    (void)state;
    MPI_Aint lb;
    return MPI_Type_get_extent(type, &lb, extent);
}

/* Only one may have begun on a file; the second changes nothing about the first. */
static void begin_two_split_accesses(MPI_File file)
{
    int written = 1, other;
    CHECK_MPI(MPI_File_write_at_all_begin(file, 0, &written, 1, MPI_INT));
    CHECK(MPI_File_write_at_all_begin(file, 4, &other, 1, MPI_INT) != MPI_SUCCESS);
    CHECK_MPI(MPI_File_write_at_all_end(file, &written, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv)
{
    MPI_File missing, file;
    MPI_Errhandler counter, current;
    int class, value = 1;

    begin(&argc, &argv);
    MPI_Error_class(
        MPI_File_open(MPI_COMM_WORLD, "missing/file.data", MPI_MODE_RDONLY, MPI_INFO_NULL, &missing), &class);
    CHECK(class == MPI_ERR_NO_SUCH_FILE);
    MPI_Error_class(MPI_File_delete("missing.data", MPI_INFO_NULL), &class);
    CHECK(class == MPI_ERR_NO_SUCH_FILE);

    CHECK_MPI(MPI_File_open(MPI_COMM_WORLD, "readable.data", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                            &file));
    CHECK(MPI_File_read(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    CHECK(MPI_File_write_at(file, 0, &value, -1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    MPI_File_create_errhandler(count_error, &counter);
    MPI_File_set_errhandler(file, counter);
    MPI_File_get_errhandler(file, &current);
    MPI_File_call_errhandler(file, MPI_ERR_OTHER);
    CHECK(handled == 1);
    MPI_Errhandler_free(&current);
    MPI_Errhandler_free(&counter);
    MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
    begin_two_split_accesses(file);
    CHECK_MPI(MPI_File_close(&file));
    MPI_Register_datarep("ours", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of_datarep, NULL);
    return finish();
}
