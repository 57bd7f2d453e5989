/* Two groups that talk: created, described, duplicated, merged in both orders. */
#include "check.h"

int main(int argc, char** argv)
{
    MPI_Comm half, inter, copy, merged;
    MPI_Group remote;
    int is_inter, remote_size, group_size, value = -1, merged_rank;
    int in_low;

    begin(&argc, &argv);
    CHECK(size >= 2);
    in_low = rank < size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, in_low, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, in_low ? size / 2 : 0, 9, &inter);
    MPI_Comm_test_inter(inter, &is_inter);
    CHECK(is_inter);
    MPI_Comm_remote_size(inter, &remote_size);
    MPI_Comm_remote_group(inter, &remote);
    MPI_Group_size(remote, &group_size);
    CHECK(remote_size == group_size);
    MPI_Group_free(&remote);

    if (rank == 0) {
        MPI_Send(&rank, 1, MPI_INT, remote_size - 1, 3, inter);
    }
    if (rank == size - 1) {
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, inter, &status);
        CHECK(value == 0 && status.MPI_SOURCE == 0);
    }
    MPI_Comm_dup(inter, &copy);
    MPI_Barrier(copy);

    MPI_Intercomm_merge(inter, in_low, &merged); /* the high ones come first */
    MPI_Comm_rank(merged, &merged_rank);
    CHECK(merged_rank == (in_low ? rank + size - size / 2 : rank - size / 2));
    MPI_Bcast(&value, 1, MPI_INT, 0, merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    return finish();
}
