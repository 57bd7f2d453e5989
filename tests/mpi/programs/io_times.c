/* Writes two files through a view with holes and says, for each write, when it began and ended by MPI_Wtime.
 */
#include "check.h"

enum { BLOCKS = 3, WRITES = 4 };

static void write_file(const char* name)
{
    MPI_File file;
    MPI_Datatype every_second;
    const int values[BLOCKS] = {1, 2, 3};
    CHECK_MPI(MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint)sizeof(int), &every_second));
    CHECK_MPI(MPI_Type_commit(&every_second));
    CHECK_MPI(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    CHECK_MPI(MPI_File_set_view(file, 0, MPI_INT, every_second, "native", MPI_INFO_NULL));
    for (int i = 0; i < WRITES; ++i) {
        const double before = MPI_Wtime();
        CHECK_MPI(MPI_File_write(file, values, BLOCKS, MPI_INT, MPI_STATUS_IGNORE));
        printf("%s %.9f %.9f\n", name, before, MPI_Wtime());
    }
    CHECK_MPI(MPI_File_close(&file));
    CHECK_MPI(MPI_Type_free(&every_second));
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    if (rank == 0) {
        write_file("first.data");
        write_file("second.data");
    }
    return finish();
}
