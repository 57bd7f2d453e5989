/* Random datatypes made of random datatypes, whose names are numbers: types SEED COUNT. */
#include "random.h"
#include "type_map.h"

enum { MOST_BLOCKS = 1000, DEPTH = 3 };

static Random numbers;

static int upto(int limit)
{
    return below(&numbers, limit + 1);
}

static MPI_Datatype basic(void)
{
    const MPI_Datatype types[] = {
        MPI_BYTE,   MPI_CHAR,      MPI_SHORT,      MPI_INT,     MPI_FLOAT,
        MPI_DOUBLE, MPI_LONG_LONG, MPI_DOUBLE_INT, MPI_INTEGER, MPI_DOUBLE_PRECISION,
        MPI_COMPLEX};
    MPI_Datatype type;
    switch (below(&numbers, 12)) {
    case 0:
        MPI_Type_create_f90_real(6 + 6 * upto(1), MPI_UNDEFINED, &type);
        return type;
    case 1:
        MPI_Type_create_f90_integer(2 + 5 * upto(1), &type);
        return type;
    case 2:
        MPI_Type_create_f90_complex(MPI_UNDEFINED, 30, &type);
        return type;
    default:
        return types[below(&numbers, LENGTH(types))];
    }
}

static MPI_Aint extent_of(MPI_Datatype type)
{
    MPI_Aint lb, extent;
    MPI_Type_get_extent(type, &lb, &extent);
    return extent;
}

/* --- one constructor each --- */

static void make_vector(MPI_Datatype old, int is_h, MPI_Datatype* made)
{
    const int count = upto(4), length = upto(3), stride = upto(10) - 5;
    if (is_h) {
        MPI_Type_create_hvector(count, length, 8 * stride + upto(3), old, made);
    } else {
        MPI_Type_vector(count, length, stride, old, made);
    }
}

/* Blocks may overlap, go backwards, and be empty. */
static void make_indexed(MPI_Datatype old, int kind, MPI_Datatype* made)
{
    static int lengths[MOST_BLOCKS], places[MOST_BLOCKS];
    static MPI_Aint byte_places[MOST_BLOCKS];
    const int count = one_in(&numbers, 60) ? MOST_BLOCKS : upto(5), length = upto(2);
    for (int i = 0; i < count; ++i) {
        lengths[i] = count > 5 ? upto(1) : upto(3);
        places[i] = upto(20) - 10;
        byte_places[i] = (upto(20) - 10) * extent_of(old) + upto(3);
    }
    switch (kind) {
    case 0:
        MPI_Type_indexed(count, lengths, places, old, made);
        break;
    case 1:
        MPI_Type_create_hindexed(count, lengths, byte_places, old, made);
        break;
    case 2:
        MPI_Type_create_indexed_block(count, length, places, old, made);
        break;
    default:
        MPI_Type_create_hindexed_block(count, length, byte_places, old, made);
    }
}

static void make_struct(MPI_Datatype first, MPI_Datatype second, MPI_Datatype* made)
{
    int lengths[4];
    MPI_Aint places[4];
    MPI_Datatype types[4];
    const int count = upto(4);
    for (int i = 0; i < count; ++i) {
        lengths[i] = upto(2);
        places[i] = upto(200) - 100;
        types[i] = one_in(&numbers, 2) ? first : second;
    }
    MPI_Type_create_struct(count, lengths, places, types, made);
}

static int an_order(void)
{
    return one_in(&numbers, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
}

static void make_subarray(MPI_Datatype old, MPI_Datatype* made)
{
    int sizes[3], subsizes[3], starts[3];
    const int dimensions = 1 + upto(2);
    for (int i = 0; i < dimensions; ++i) {
        sizes[i] = 1 + upto(4);
        subsizes[i] = 1 + upto(sizes[i] - 1);
        starts[i] = upto(sizes[i] - subsizes[i]);
    }
    MPI_Type_create_subarray(dimensions, sizes, subsizes, starts, an_order(), old, made);
}

/* Open MPI 4.1 says MPI_ERR_TYPE to a distributed array of what holds no data. */
static int refuses_darray_of(MPI_Datatype old)
{
#ifdef OPEN_MPI
    int bytes;
    MPI_Type_size(old, &bytes);
    return bytes == 0;
#else
    (void)old;
    return 0;
#endif
}

static void make_darray(MPI_Datatype old, MPI_Datatype* made)
{
    int sizes[3], distributions[3], arguments[3], processes[3], count = 1;
    const int dimensions = 1 + upto(2);
    for (int i = 0; i < dimensions; ++i) {
        const int kind = below(&numbers, 3);
        sizes[i] = 1 + upto(7);
        distributions[i] = kind == 0   ? MPI_DISTRIBUTE_BLOCK
                           : kind == 1 ? MPI_DISTRIBUTE_CYCLIC
                                       : MPI_DISTRIBUTE_NONE;
        processes[i] = kind == 2 ? 1 : 1 + upto(2);
        arguments[i] = kind == 2 || one_in(&numbers, 2) ? MPI_DISTRIBUTE_DFLT_DARG
                       : distributions[i] == MPI_DISTRIBUTE_BLOCK
                           ? (sizes[i] + processes[i] - 1) / processes[i] + upto(1)
                           : 1 + upto(2);
        count *= processes[i];
    }
    const int member = below(&numbers, count), order = an_order();
    if (refuses_darray_of(old)) {
        MPI_Type_dup(old, made);
    } else {
        MPI_Type_create_darray(count, member, dimensions, sizes, distributions, arguments, processes, order,
                               old, made);
    }
}

/* --- nesting --- */

static int is_predefined(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_INTEGER || combiner == MPI_COMBINER_F90_COMPLEX;
}

static void free_made(MPI_Datatype* type)
{
    if (!is_predefined(*type)) {
        MPI_Type_free(type);
    }
}

static int is_small(MPI_Datatype type)
{
    int bytes;
    MPI_Aint lb, extent, true_lb, true_extent;
    MPI_Type_size(type, &bytes);
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_true_extent(type, &true_lb, &true_extent);
    return bytes <= MOST_BYTES && labs(lb) < MOST_SPAN && labs(extent) < MOST_SPAN &&
           labs(true_lb) < MOST_SPAN && true_extent < MOST_SPAN;
}

static MPI_Datatype make(int depth)
{
    if (depth == 0 || one_in(&numbers, 6)) {
        return basic();
    }
    MPI_Datatype first = make(depth - 1), second = make(depth - 1), made;
    const int kind = below(&numbers, 13);
    if (kind < 2) {
        make_vector(first, kind, &made);
    } else if (kind < 6) {
        make_indexed(first, kind - 2, &made);
    } else if (kind < 8) {
        make_struct(first, second, &made);
    } else if (kind == 8) {
        make_subarray(first, &made);
    } else if (kind == 9) {
        make_darray(first, &made);
    } else if (kind == 10) {
        MPI_Type_contiguous(upto(4), first, &made);
    } else if (kind == 11) {
        MPI_Type_create_resized(first, upto(40) - 20, upto(60), &made);
    } else {
        MPI_Type_dup(first, &made);
    }
    if (!is_small(made)) {
        MPI_Type_free(&made);
        made = basic();
    }
    free_made(&first);
    free_made(&second);
    return made;
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    CHECK(argc == 3);
    open_log();
    numbers = (Random)atoi(argv[1]) * 1000 + (Random)rank;
    for (int number = 0; number < atoi(argv[2]);) {
        MPI_Datatype type = make(DEPTH);
        if (is_predefined(type)) {
            continue;
        }
        char name[20];
        snprintf(name, sizeof name, "%d", number++);
        note_type(name, type);
    }
    fclose(log_file);
    return finish();
}
