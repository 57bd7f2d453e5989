/* Constants of MPI where numbers stand: MPI_UNDEFINED, MPI_PROC_NULL, MPI_ANY_SOURCE and the keys of MPI's
 * own attributes. */
#include "check.h"

static void in_groups(void)
{
    MPI_Group world, none;
    MPI_Comm other;
    int place, translated[2], ranks[2] = {rank, MPI_PROC_NULL};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, 1, &rank, &none);
    MPI_Group_rank(none, &place);
    MPI_Group_translate_ranks(world, 2, ranks, none, translated);
    CHECK(place == MPI_UNDEFINED && translated[0] == MPI_UNDEFINED && translated[1] == MPI_PROC_NULL);
    if (none != MPI_GROUP_EMPTY) {
        MPI_Group_free(&none);
    }
    MPI_Group_free(&world);
    MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 3, &other);
    CHECK(other == MPI_COMM_NULL);
}

static void in_topologies(void)
{
    MPI_Comm line;
    const int periodic = 0;
    int source, destination;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &line);
    MPI_Cart_shift(line, 0, size, &source, &destination);
    CHECK(source == MPI_PROC_NULL && destination == MPI_PROC_NULL);
    MPI_Comm_free(&line);
}

static void in_counts(void)
{
    char sent[5] = "", received[5];
    int count;
    MPI_Status status;
    MPI_Datatype type;
    MPI_Sendrecv(sent, 5, MPI_BYTE, right, 0, received, 5, MPI_BYTE, left, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == MPI_UNDEFINED);
    MPI_Type_create_f90_real(6, MPI_UNDEFINED, &type);
}

static void in_attributes(void)
{
    MPI_Win window;
    void* found;
    int key, flag, memory;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &found, &flag);
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_get_attr(window, MPI_WIN_SIZE, &found, &flag);
    MPI_Win_free(&window);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_free_keyval(&key);
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    in_groups();
    in_topologies();
    in_counts();
    in_attributes();
    return finish();
}
