/* Groups: every way to make one and every question about it. */
#include "check.h"

int main(int argc, char** argv)
{
    MPI_Group world, first, others, both, common, none, range, without_range;
    int first_rank = 0, count, place, result, translated, all[1][3];

    begin(&argc, &argv);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(world, &count);
    MPI_Group_rank(world, &place);
    CHECK(count == size && place == rank);
    MPI_Group_incl(world, 1, &first_rank, &first);
    MPI_Group_excl(world, 1, &first_rank, &others);
    MPI_Group_union(first, others, &both);
    MPI_Group_compare(both, world, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_intersection(first, others, &common);
    CHECK(common == MPI_GROUP_EMPTY);
    MPI_Group_difference(world, both, &none);
    CHECK(none == MPI_GROUP_EMPTY);
    all[0][0] = 0, all[0][1] = size - 1, all[0][2] = 1;
    MPI_Group_range_incl(world, 1, all, &range);
    MPI_Group_range_excl(world, 1, all, &without_range);
    MPI_Group_translate_ranks(range, 1, &rank, world, &translated);
    CHECK(translated == rank && without_range == MPI_GROUP_EMPTY);
    MPI_Group_free(&range);
    MPI_Group_free(&both);
    if (others != MPI_GROUP_EMPTY) {
        MPI_Group_free(&others);
    }
    MPI_Group_free(&first);
    MPI_Group_free(&world);
    return finish();
}
