/* layouts.c - the same values in memory in many ways. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steps.h"

void must(bool holds, const char* what)
{
    if (holds)
        return;
    fprintf(stderr, "random steps: %s is not as it has to be\n", what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

MPI_Datatype choose_base(Random* random)
{
    const MPI_Datatype bases[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_LONG};
    return bases[below(random, 4)];
}

static int value(int seed, int i)
{
    return (int)(((unsigned)seed * 31u + (unsigned)i * 7u) % 100u);
}

void set_values(void* array, MPI_Datatype base, int values, int seed)
{
    for (int i = 0; i < values; ++i) {
        const int v = value(seed, i);
        if (base == MPI_INT)
            ((int*)array)[i] = v;
        else if (base == MPI_DOUBLE)
            ((double*)array)[i] = v;
        else if (base == MPI_CHAR)
            ((char*)array)[i] = (char)v;
        else
            ((long*)array)[i] = v;
    }
}

void compare_values(const void* array, MPI_Datatype base, int values, int seed, const char* what)
{
    for (int i = 0; i < values; ++i) {
        int found;
        if (base == MPI_INT)
            found = ((const int*)array)[i];
        else if (base == MPI_DOUBLE)
            found = (int)((const double*)array)[i];
        else if (base == MPI_CHAR)
            found = ((const char*)array)[i];
        else
            found = (int)((const long*)array)[i];
        must(found == value(seed, i), what);
    }
}

static void make_type(Layout* layout, Random* random)
{
    const int values = layout->values, some = values / 2;
    const MPI_Datatype base = layout->base;
    MPI_Aint lower, extent;
    MPI_Datatype inner = MPI_DATATYPE_NULL;
    MPI_Type_get_extent(base, &lower, &extent);
    layout->count = 1;
    layout->is_made = true;
    switch (below(random, 9)) {
    case 0:
        MPI_Type_contiguous(values, base, &layout->type);
        break;
    case 1:
        MPI_Type_vector(values, 1, 2 + below(random, 3), base, &layout->type);
        break;
    case 2: {
        const int lengths[] = {some, values - some}, places[] = {1, some + 3};
        MPI_Type_indexed(2, lengths, places, base, &layout->type);
        break;
    }
    case 3: {
        const int lengths[] = {values - some, some};
        const MPI_Aint places[] = {(values + 2) * extent, 0};
        MPI_Type_create_hindexed(2, lengths, places, base, &layout->type);
        break;
    }
    case 4: {
        const int lengths[] = {some, 0, values - some};
        const MPI_Aint places[] = {extent, 0, (some + 2) * extent};
        const MPI_Datatype types[] = {base, MPI_DOUBLE, base};
        MPI_Type_create_struct(3, lengths, places, types, &layout->type);
        break;
    }
    case 5:
        MPI_Type_create_resized(base, 0, 3 * extent, &layout->type);
        layout->count = values;
        break;
    case 6: {
        const int sizes[] = {values + 1, 3}, parts[] = {values, 1}, starts[] = {1, below(random, 3)};
        MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, base, &layout->type);
        break;
    }
    case 7:
        MPI_Type_vector(values, 1, 2, base, &inner);
        MPI_Type_dup(inner, &layout->type);
        break;
    default:
        MPI_Type_create_hvector(values, 1, 2 * extent, base, &inner);
        MPI_Type_contiguous(1, inner, &layout->type);
        break;
    }
    if (inner != MPI_DATATYPE_NULL)
        MPI_Type_free(&inner);
    MPI_Type_commit(&layout->type);
}

static void* memory_for(const Layout* layout)
{
    MPI_Aint lower, extent, first, spanned;
    MPI_Type_get_extent(layout->type, &lower, &extent);
    MPI_Type_get_true_extent(layout->type, &first, &spanned);
    const MPI_Aint bytes = layout->count > 0 ? first + spanned + (layout->count - 1) * extent : 0;
    return calloc(1, (size_t)bytes + 1);
}

Layout make_plain(MPI_Datatype base, int values)
{
    Layout layout = {base, values, base, values, false, NULL};
    layout.memory = memory_for(&layout);
    return layout;
}

Layout make_layout(Random* random, MPI_Datatype base, int values)
{
    if (values == 0 || one_in(random, 3))
        return make_plain(base, values);
    Layout layout = {base, values, MPI_DATATYPE_NULL, 0, false, NULL};
    make_type(&layout, random);
    layout.memory = memory_for(&layout);
    return layout;
}

void forget_type(Layout* layout)
{
    if (layout->is_made)
        MPI_Type_free(&layout->type);
    layout->is_made = false;
}

void drop(Layout* layout)
{
    forget_type(layout);
    free(layout->memory);
    layout->memory = NULL;
}

static void* packed_room(const Layout* layout, int* size)
{
    MPI_Pack_size(layout->values, layout->base, MPI_COMM_SELF, size);
    return malloc((size_t)*size + 1);
}

void fill(const Layout* layout, int seed)
{
    if (!layout->is_made) {
        set_values(layout->memory, layout->base, layout->values, seed);
        return;
    }
    Layout plain = make_plain(layout->base, layout->values);
    set_values(plain.memory, plain.base, plain.values, seed);
    int size, end = 0, begin = 0;
    void* const packed = packed_room(layout, &size);
    MPI_Pack(plain.memory, plain.count, plain.type, packed, size, &end, MPI_COMM_SELF);
    MPI_Unpack(packed, end, &begin, layout->memory, layout->count, layout->type, MPI_COMM_SELF);
    free(packed);
    drop(&plain);
}

void compare(const Layout* layout, int values, int seed, const char* what)
{
    if (values == 0)
        return;
    if (layout->type == layout->base) {
        compare_values(layout->memory, layout->base, values, seed, what);
        return;
    }
    Layout plain = make_plain(layout->base, layout->values);
    int size, end = 0, begin = 0;
    void* const packed = packed_room(layout, &size);
    MPI_Pack(layout->memory, layout->count, layout->type, packed, size, &end, MPI_COMM_SELF);
    MPI_Unpack(packed, end, &begin, plain.memory, plain.count, plain.type, MPI_COMM_SELF);
    compare_values(plain.memory, plain.base, values, seed, what);
    free(packed);
    drop(&plain);
}
