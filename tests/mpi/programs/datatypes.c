/* Every constructor of datatypes; each type is committed, named, used in a message, described and freed. */
#include "check.h"

static char buffer[4096], received[4096];

static void use(MPI_Datatype* type, const char* name, int expected_size)
{
    char read_name[MPI_MAX_OBJECT_NAME];
    int type_size, length, integers, addresses, types, combiner;
    MPI_Count large_size, large_lb, large_extent;
    MPI_Aint lb, extent, true_lb, true_extent;
    MPI_Type_commit(type);
    MPI_Type_set_name(*type, name);
    MPI_Type_get_name(*type, read_name, &length);
    CHECK(strcmp(name, read_name) == 0);
    MPI_Type_size(*type, &type_size);
    MPI_Type_size_x(*type, &large_size);
    CHECK(type_size == expected_size && large_size == expected_size);
    MPI_Type_get_extent(*type, &lb, &extent);
    MPI_Type_get_extent_x(*type, &large_lb, &large_extent);
    MPI_Type_get_true_extent(*type, &true_lb, &true_extent);
    MPI_Type_get_true_extent_x(*type, &large_lb, &large_extent);
    CHECK(true_lb >= lb && large_extent == true_extent);
    MPI_Type_get_envelope(*type, &integers, &addresses, &types, &combiner);
    MPI_Sendrecv(buffer, 1, *type, right, 1, received, 1, *type, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (types > 0) {
        int* ints = malloc((size_t)(integers + 1) * sizeof *ints);
        MPI_Aint* places = malloc((size_t)(addresses + 1) * sizeof *places);
        MPI_Datatype* parts = malloc((size_t)types * sizeof *parts);
        MPI_Type_get_contents(*type, integers, addresses, types, ints, places, parts);
        for (int i = 0; i < types; ++i) {
            int part_combiner;
            MPI_Type_get_envelope(parts[i], &integers, &addresses, &length, &part_combiner);
            if (part_combiner != MPI_COMBINER_NAMED) {
                MPI_Type_free(&parts[i]);
            }
        }
        free(parts);
        free(places);
        free(ints);
    }
}

static void use_and_free(MPI_Datatype type, const char* name, int expected_size)
{
    use(&type, name, expected_size);
    MPI_Type_free(&type);
    CHECK(type == MPI_DATATYPE_NULL);
}

static void regular(void)
{
    MPI_Datatype type;
    MPI_Type_contiguous(3, MPI_INT, &type);
    use_and_free(type, "contiguous", 12);
    MPI_Type_vector(2, 3, 5, MPI_DOUBLE, &type);
    use_and_free(type, "vector", 48);
    MPI_Type_create_hvector(2, 3, 64, MPI_DOUBLE, &type);
    use_and_free(type, "hvector", 48);
    MPI_Type_create_resized(MPI_INT, -4, 16, &type);
    use_and_free(type, "resized", 4);
    MPI_Type_dup(MPI_INT, &type);
    use_and_free(type, "dup", 4);
}

static void irregular(void)
{
    const int lengths[] = {2, 1}, places[] = {0, 4};
    const MPI_Aint addresses[] = {8, 40};
    const MPI_Datatype members[] = {MPI_INT, MPI_DOUBLE};
    MPI_Datatype type;
    MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
    use_and_free(type, "indexed", 12);
    MPI_Type_create_hindexed(2, lengths, addresses, MPI_INT, &type);
    use_and_free(type, "hindexed", 12);
    MPI_Type_create_indexed_block(2, 2, places, MPI_INT, &type);
    use_and_free(type, "indexed_block", 16);
    MPI_Type_create_hindexed_block(2, 2, addresses, MPI_INT, &type);
    use_and_free(type, "hindexed_block", 16);
    MPI_Type_create_struct(2, lengths, addresses, members, &type);
    use_and_free(type, "struct", 16);
}

static void arrays(void)
{
    const int sizes[] = {4, 6}, parts[] = {2, 3}, starts[] = {1, 2};
    const int distributions[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
    const int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, processes[] = {2, 1};
    MPI_Datatype type;
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type);
    use_and_free(type, "subarray", 24);
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &type);
    use_and_free(type, "subarray_fortran", 24);
    MPI_Type_create_darray(2, 1, 2, sizes, distributions, arguments, processes, MPI_ORDER_C, MPI_INT, &type);
    use_and_free(type, "darray", 48);
}

static void of_fortran(void)
{
    MPI_Datatype type;
    int type_size, value[4] = {0};
    MPI_Type_create_f90_integer(9, &type);
    MPI_Type_size(type, &type_size);
    MPI_Sendrecv_replace(value, 1, type, right, 2, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(type_size == 4);
    MPI_Type_create_f90_real(15, 300, &type);
    MPI_Sendrecv_replace(value, 1, type, right, 3, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_create_f90_complex(6, 30, &type);
    MPI_Sendrecv_replace(value, 1, type, right, 4, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type);
    MPI_Sendrecv_replace(value, 1, type, right, 5, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A struct of a vector of a pair. The inner types are freed before the outer one is used. */
static void nested(void)
{
    const int lengths[] = {1, 2};
    const MPI_Aint addresses[] = {0, 256};
    MPI_Datatype pair, vector, members[2], outer;
    MPI_Type_contiguous(2, MPI_SHORT, &pair);
    MPI_Type_vector(3, 1, 2, pair, &vector);
    members[0] = vector;
    members[1] = MPI_CHAR;
    MPI_Type_create_struct(2, lengths, addresses, members, &outer);
    MPI_Type_free(&vector);
    MPI_Type_free(&pair);
    use_and_free(outer, "nested", 14);
}

/* A freed handle comes back at once: the second type must not be taken for the first. */
static void reuse_handles(void)
{
    MPI_Datatype type;
    MPI_Type_contiguous(5, MPI_CHAR, &type);
    use_and_free(type, "five", 5);
    MPI_Type_contiguous(6, MPI_CHAR, &type);
    use_and_free(type, "six", 6);
}

int main(int argc, char** argv)
{
    int value;
    MPI_Aint address;

    begin(&argc, &argv);
    MPI_Get_address(&value, &address);
    CHECK(address == (MPI_Aint)&value);
    CHECK(MPI_Aint_diff(MPI_Aint_add(address, 4), address) == 4);
    regular();
    irregular();
    arrays();
    of_fortran();
    nested();
    reuse_handles();
    return finish();
}
