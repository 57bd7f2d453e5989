/* MPI 4: the functions with large counts. */
#include "check.h"

static void messages(void)
{
    const MPI_Count count = 5;
    int sent[5] = {rank, rank, rank, rank, rank}, received[5];
    MPI_Count arrived;
    MPI_Request request;
    MPI_Status status;
    MPI_Isend_c(sent, count, MPI_INT, right, 1, MPI_COMM_WORLD, &request);
    MPI_Recv_c(received, count, MPI_INT, left, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count_c(&status, MPI_INT, &arrived);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(arrived == count && received[4] == left);
}

static void collectives(void)
{
    MPI_Count counts[MOST_RANKS];
    MPI_Aint places[MOST_RANKS];
    int all[MOST_RANKS], sum;
    for (int i = 0; i < MOST_RANKS; ++i) {
        counts[i] = 1;
        places[i] = i;
    }
    MPI_Allgatherv_c(&rank, 1, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[size - 1] == size - 1);
    MPI_Allreduce_c(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size * (size - 1) / 2);
}

static void datatypes_and_files(void)
{
    MPI_Datatype type, part;
    MPI_File file;
    MPI_Count integers, addresses, large_counts, types, count;
    int combiner;
    int values[6] = {0};
    MPI_Type_contiguous_c(6, MPI_INT, &type);
    MPI_Type_get_envelope_c(type, &integers, &addresses, &large_counts, &types, &combiner);
    CHECK(combiner == MPI_COMBINER_CONTIGUOUS && large_counts == 1);
    MPI_Type_get_contents_c(type, integers, addresses, large_counts, types, NULL, NULL, &count, &part);
    CHECK(count == 6 && part == MPI_INT);
    MPI_Type_commit(&type);
    CHECK_MPI(
        MPI_File_open(MPI_COMM_WORLD, "large.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    CHECK_MPI(MPI_File_write_at_c(file, (MPI_Offset)rank * 24, values, 1, type, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_close(&file));
    MPI_Type_free(&type);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    messages();
    collectives();
    datatypes_and_files();
    return finish();
}
