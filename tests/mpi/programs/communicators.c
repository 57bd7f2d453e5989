/* Everything that makes, names, compares, describes and frees communicators within one world. */
#include "check.h"

static void duplicate(void)
{
    MPI_Comm copies[3];
    MPI_Request request;
    MPI_Info info, used;
    int result;
    MPI_Comm_dup(MPI_COMM_WORLD, &copies[0]);
    MPI_Comm_compare(copies[0], MPI_COMM_WORLD, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Info_create(&info);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &copies[1]);
    MPI_Comm_set_info(copies[1], info);
    MPI_Comm_get_info(copies[1], &used);
    MPI_Info_free(&used);
    MPI_Info_free(&info);
    MPI_Comm_idup(copies[0], &copies[2], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(copies[2]);
#ifdef HAVE_MPI_Comm_idup_with_info
    MPI_Comm another;
    MPI_Comm_idup_with_info(copies[0], MPI_INFO_NULL, &another, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&another);
#endif
    for (int i = 0; i < LENGTH(copies); ++i) {
        MPI_Comm_free(&copies[i]);
    }
}

static void split(void)
{
    MPI_Comm parity, none, node;
    char name[MPI_MAX_OBJECT_NAME];
    int length, is_inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &parity);
    MPI_Comm_get_name(parity, name, &length);
    MPI_Comm_set_name(parity, rank % 2 ? "odd <ranks>" : "even & 'quoted'");
    MPI_Comm_get_name(parity, name, &length);
    CHECK(strcmp(name, rank % 2 ? "odd <ranks>" : "even & 'quoted'") == 0);
    MPI_Comm_test_inter(parity, &is_inter);
    CHECK(!is_inter);
    MPI_Barrier(parity);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : MPI_UNDEFINED, 0, &none);
    CHECK((rank == 0) == (none != MPI_COMM_NULL));
    if (none != MPI_COMM_NULL) {
        MPI_Comm_free(&none);
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Barrier(node);
    MPI_Comm_free(&node);
    MPI_Comm_disconnect(&parity);
    CHECK(parity == MPI_COMM_NULL);
}

static void create(void)
{
    MPI_Group world, low;
    MPI_Comm created, from_group;
    const int members = size > 1 ? size / 2 : 1;
    int range[1][3] = {{0, members - 1, 1}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &low);
    MPI_Comm_create(MPI_COMM_WORLD, low, &created);
    CHECK((rank < members) == (created != MPI_COMM_NULL));
    if (rank < members) {
        MPI_Barrier(created);
        MPI_Comm_create_group(MPI_COMM_WORLD, low, 4, &from_group);
        MPI_Barrier(from_group);
        MPI_Comm_free(&from_group);
        MPI_Comm_free(&created);
    }
    MPI_Group_free(&low);
    MPI_Group_free(&world);
}

/* A freed communicator's handle may come back at once for another communicator. */
static void reuse_handles(void)
{
    for (int i = 0; i < 3; ++i) {
        MPI_Comm copy;
        MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? rank : -rank, &copy);
        MPI_Barrier(copy);
        MPI_Comm_free(&copy);
    }
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    duplicate();
    split();
    create();
    reuse_handles();
    MPI_Barrier(MPI_COMM_SELF);
    return finish();
}
