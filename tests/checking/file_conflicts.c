/* Two processes write to a file, as the argument says. */
#include <mpi.h>
#include <string.h>

enum { count = 4, many = 600000 };

static int many_values[many];

int main(int argc, char** argv)
{
    const char* how = argv[1];
    int rank, values[count];
    MPI_File file, again = MPI_FILE_NULL;
    MPI_Datatype vector, every_other;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(values, rank, sizeof values);
    MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Type_vector(count, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 2 * count * sizeof(int), &every_other);
    MPI_Type_commit(&every_other);
    if (strcmp(how, "atomic") == 0)
        MPI_File_set_atomicity(file, 1);
    const int has_pieces = strcmp(how, "in_pieces") == 0;
    const int is_open_twice = strcmp(how, "twice") == 0, closes_one = strcmp(how, "closed") == 0;
    if (strcmp(how, "interleaved") == 0 || has_pieces || is_open_twice)
        MPI_File_set_view(file, (MPI_Offset)sizeof(int) * rank, MPI_INT, every_other, "native",
                          MPI_INFO_NULL);
    if (is_open_twice || closes_one)
        MPI_File_open(MPI_COMM_SELF, argv[2], MPI_MODE_RDWR, MPI_INFO_NULL, &again);
    for (int i = 0; strcmp(how, "often") == 0 && i < 300; ++i) { /* in order; what follows is not */
        if (rank == i % 2)
            MPI_File_write_at(file, 1000, values, count, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_sync(file);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File_sync(file);
    }
    if (strcmp(how, "ordered") == 0) {
        if (rank == 0)
            MPI_File_write_at(file, 0, values, count, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_sync(file);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File_sync(file);
        if (rank == 1)
            MPI_File_read_at(file, 0, values, count, MPI_INT, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "disjoint") == 0) {
        MPI_File_write_at(file, (MPI_Offset)sizeof values * rank, values, count, MPI_INT, MPI_STATUS_IGNORE);
    } else if (strcmp(how, "nonblocking") == 0) {
        MPI_File_iwrite_at(file, 0, values, count, MPI_INT, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (closes_one) {
        MPI_File_iwrite_at(file, (MPI_Offset)sizeof values * rank, values, count, MPI_INT, &request);
        MPI_File_close(&again);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (has_pieces) {
        MPI_File_write_all(file, many_values, many, MPI_INT, MPI_STATUS_IGNORE);
    } else {
        MPI_File_write_all(file, values, count, MPI_INT, MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&every_other);
    MPI_Type_free(&vector);
    if (again != MPI_FILE_NULL)
        MPI_File_close(&again);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
