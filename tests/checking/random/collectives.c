/* collectives.c - collective operations within a group, between two, and with neighbours. */
#include <stdlib.h>
#include <string.h>

#include "steps.h"

/* What one process gives to all, or all to one, and so on: blocks of values by rank. */
typedef struct {
    MPI_Datatype base;
    MPI_Aint extent; /* of base, in bytes */
    int values;      /* of a block */
    int root;
    Layout sent, got;     /* of a block for each process */
    int *counts, *places; /* of v-variants, in values: blocks with gaps in any order */
} Blocks;

static Blocks make_blocks(Step* step)
{
    Blocks blocks = {.base = choose_base(&step->same), .values = below(&step->same, most_values)};
    MPI_Aint lower;
    MPI_Type_get_extent(blocks.base, &lower, &blocks.extent);
    blocks.root = below(&step->same, step->size);
    const int gap = below(&step->own, 3);
    blocks.sent = make_plain(blocks.base, (blocks.values + gap) * step->size);
    blocks.got = make_plain(blocks.base, (blocks.values + gap) * step->size);
    blocks.counts = malloc(sizeof(int) * (size_t)step->size);
    blocks.places = malloc(sizeof(int) * (size_t)step->size);
    for (int i = 0; i < step->size; ++i) {
        blocks.counts[i] = blocks.values;
        blocks.places[i] = (step->size - 1 - i) * (blocks.values + gap);
    }
    return blocks;
}

static void drop_blocks(Blocks* blocks)
{
    drop(&blocks->sent);
    drop(&blocks->got);
    free(blocks->counts);
    free(blocks->places);
}

static void* at(const Blocks* blocks, const Layout* layout, int values)
{
    return (char*)layout->memory + values * blocks->extent;
}

static void end(Step* step, MPI_Request* request)
{
    MPI_Status status;
    complete(&step->own, 1, request, &status);
}

static void broadcast(Step* step)
{
    const MPI_Datatype base = choose_base(&step->same);
    const int values = below(&step->same, most_values), root = below(&step->same, step->size);
    const bool is_nonblocking = one_in(&step->same, 2);
    Layout layout = make_layout(&step->own, base, values);
    MPI_Request request;
    if (step->rank == root)
        fill(&layout, step->tag);
    if (!is_nonblocking) {
        MPI_Bcast(layout.memory, layout.count, layout.type, root, step->comm);
    } else {
        MPI_Ibcast(layout.memory, layout.count, layout.type, root, step->comm, &request);
        if (one_in(&step->own, 2)) {
            complete_later(request, layout, values, step->tag, "a late broadcast");
            return;
        }
        end(step, &request);
    }
    compare(&layout, values, step->tag, "a broadcast");
    drop(&layout);
}

static void sum_up(void* in, void* sum, int* count, MPI_Datatype* type)
{
    (void)type;
    for (int i = 0; i < *count; ++i)
        ((int*)sum)[i] += ((int*)in)[i];
}

static void reduce(Step* step)
{
    enum { values = 3 };
    const int size = step->size, rank = step->rank, root = below(&step->same, size);
    const int way = below(&step->same, 7), is_own = one_in(&step->same, 3),
              is_nonblocking = one_in(&step->same, 2);
    const int total = size * (size - 1) / 2;
    int given[values], sums[values] = {-1, -1, -1};
    bool is_told = true;
    int expected = total;
    MPI_Op op = MPI_SUM;
    MPI_Request request = MPI_REQUEST_NULL;
    if (is_own)
        MPI_Op_create(sum_up, 1, &op);
    for (int i = 0; i < values; ++i)
        given[i] = rank;
    switch (way) {
    case 0:
        if (is_nonblocking)
            MPI_Iallreduce(given, sums, values, MPI_INT, op, step->comm, &request);
        else
            MPI_Allreduce(given, sums, values, MPI_INT, op, step->comm);
        break;
    case 1:
        memcpy(sums, given, sizeof sums);
        MPI_Allreduce(MPI_IN_PLACE, sums, values, MPI_INT, op, step->comm);
        break;
    case 2:
        is_told = rank == root;
        if (is_nonblocking)
            MPI_Ireduce(given, sums, values, MPI_INT, op, root, step->comm, &request);
        else
            MPI_Reduce(given, rank == root ? sums : NULL, values, MPI_INT, op, root, step->comm);
        break;
    case 3:
        is_told = rank == root;
        memcpy(sums, given, sizeof sums);
        MPI_Reduce(rank == root ? MPI_IN_PLACE : given, rank == root ? sums : NULL, values, MPI_INT, op, root,
                   step->comm);
        break;
    case 4:
        expected = rank * (rank + 1) / 2;
        if (is_nonblocking)
            MPI_Iscan(given, sums, values, MPI_INT, op, step->comm, &request);
        else
            MPI_Scan(given, sums, values, MPI_INT, op, step->comm);
        break;
    case 5:
        is_told = rank > 0;
        expected = rank * (rank - 1) / 2;
        MPI_Exscan(given, sums, values, MPI_INT, op, step->comm);
        break;
    default: {
        int* const blocks = malloc(sizeof *blocks * values * (size_t)size);
        for (int i = 0; i < values * size; ++i)
            blocks[i] = rank;
        if (is_nonblocking) {
            MPI_Ireduce_scatter_block(blocks, sums, values, MPI_INT, op, step->comm, &request);
            end(step, &request);
        } else {
            MPI_Reduce_scatter_block(blocks, sums, values, MPI_INT, op, step->comm);
        }
        free(blocks);
    }
    }
    if (request != MPI_REQUEST_NULL)
        end(step, &request);
    if (is_own)
        MPI_Op_free(&op);
    for (int i = 0; i < values && is_told; ++i)
        must(sums[i] == expected, "a sum");
}

static void gather(Step* step)
{
    Blocks blocks = make_blocks(step);
    const int way = below(&step->same, 4);
    const bool is_root = step->rank == blocks.root;
    const bool by_place = way >= 2, is_told = way == 0 || way == 2 || is_root;
    MPI_Request request = MPI_REQUEST_NULL;
    set_values(blocks.sent.memory, blocks.base, blocks.values, step->tag + step->rank);
    void *const sent = blocks.sent.memory, *const got = blocks.got.memory;
    switch (way) {
    case 0:
        MPI_Allgather(sent, blocks.values, blocks.base, got, blocks.values, blocks.base, step->comm);
        break;
    case 1:
        MPI_Igather(sent, blocks.values, blocks.base, is_root ? got : NULL, is_root ? blocks.values : 0,
                    blocks.base, blocks.root, step->comm, &request);
        break;
    case 2:
        MPI_Iallgatherv(sent, blocks.values, blocks.base, got, blocks.counts, blocks.places, blocks.base,
                        step->comm, &request);
        break;
    default:
        MPI_Gatherv(sent, blocks.values, blocks.base, got, is_root ? blocks.counts : NULL,
                    is_root ? blocks.places : NULL, blocks.base, blocks.root, step->comm);
    }
    if (request != MPI_REQUEST_NULL)
        end(step, &request);
    for (int i = 0; i < step->size && is_told; ++i)
        compare_values(at(&blocks, &blocks.got, by_place ? blocks.places[i] : i * blocks.values), blocks.base,
                       blocks.values, step->tag + i, "what was gathered");
    drop_blocks(&blocks);
}

static void scatter(Step* step)
{
    Blocks blocks = make_blocks(step);
    const int way = below(&step->same, 3);
    const bool is_root = step->rank == blocks.root, by_place = way == 1;
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < step->size; ++i)
        set_values(at(&blocks, &blocks.sent, by_place ? blocks.places[i] : i * blocks.values), blocks.base,
                   blocks.values, step->tag + i);
    void *const sent = blocks.sent.memory, *got = blocks.got.memory;
    switch (way) {
    case 0:
        MPI_Scatter(is_root ? sent : NULL, blocks.values, blocks.base, got, blocks.values, blocks.base,
                    blocks.root, step->comm);
        break;
    case 1:
        MPI_Iscatterv(sent, blocks.counts, blocks.places, blocks.base, got, blocks.values, blocks.base,
                      blocks.root, step->comm, &request);
        end(step, &request);
        break;
    default:
        MPI_Scatter(sent, blocks.values, blocks.base, is_root ? MPI_IN_PLACE : got, blocks.values,
                    blocks.base, blocks.root, step->comm);
        if (is_root)
            got = at(&blocks, &blocks.sent, step->rank * blocks.values);
    }
    compare_values(got, blocks.base, blocks.values, step->tag + step->rank, "what was scattered");
    drop_blocks(&blocks);
}

static void exchange_all(Step* step)
{
    Blocks blocks = make_blocks(step);
    const int way = below(&step->same, 4);
    const bool by_place = way >= 2;
    MPI_Request request = MPI_REQUEST_NULL;
    void *const sent = blocks.sent.memory, *const got = blocks.got.memory;
    for (int i = 0; i < step->size; ++i)
        set_values(at(&blocks, &blocks.sent, by_place ? blocks.places[i] : i * blocks.values), blocks.base,
                   blocks.values, step->tag + 7 * step->rank + i);
    switch (way) {
    case 0:
        MPI_Alltoall(sent, blocks.values, blocks.base, got, blocks.values, blocks.base, step->comm);
        break;
    case 1:
        memcpy(got, sent, (size_t)blocks.extent * (size_t)(blocks.values * step->size));
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got, blocks.values, blocks.base, step->comm);
        break;
    case 2:
        MPI_Ialltoallv(sent, blocks.counts, blocks.places, blocks.base, got, blocks.counts, blocks.places,
                       blocks.base, step->comm, &request);
        end(step, &request);
        break;
    default: {
        int* const bytes = malloc(sizeof *bytes * (size_t)step->size);
        MPI_Datatype* const types = malloc(sizeof *types * (size_t)step->size);
        for (int i = 0; i < step->size; ++i) {
            bytes[i] = (int)(blocks.places[i] * blocks.extent);
            types[i] = blocks.base;
        }
        MPI_Alltoallw(sent, blocks.counts, bytes, types, got, blocks.counts, bytes, types, step->comm);
        free(bytes);
        free(types);
    }
    }
    for (int i = 0; i < step->size; ++i)
        compare_values(at(&blocks, &blocks.got, by_place ? blocks.places[i] : i * blocks.values), blocks.base,
                       blocks.values, step->tag + 7 * i + step->rank, "what all exchanged");
    drop_blocks(&blocks);
}

static void meet(Step* step)
{
    MPI_Request request;
    if (one_in(&step->same, 2)) {
        MPI_Barrier(step->comm);
        return;
    }
    MPI_Ibarrier(step->comm, &request);
    if (one_in(&step->own, 2))
        complete_later(request, make_plain(MPI_INT, 0), 0, 0, "nothing");
    else
        end(step, &request);
}

void call_collective(Step* step)
{
    static void (*const ways[])(Step*) = {broadcast, reduce, gather, scatter, exchange_all, meet};
    ways[below(&step->same, sizeof ways / sizeof *ways)](step);
}

void call_collective_of_two_groups(Step* step)
{
    int mine[2] = {step->rank, step->tag}, theirs[2] = {-1, -1}, got[16];
    const int root_group = below(&step->same, 2);
    MPI_Request request;
    switch (below(&step->same, 5)) {
    case 0:
        MPI_Barrier(step->comm);
        break;
    case 1:
        MPI_Bcast(mine, 2, MPI_INT,
                  step->slot->group != root_group ? 0
                  : step->rank == 0               ? MPI_ROOT
                                                  : MPI_PROC_NULL,
                  step->comm);
        must(mine[1] == step->tag, "a broadcast from the other group");
        break;
    case 2:
        MPI_Allreduce(mine, theirs, 2, MPI_INT, MPI_SUM, step->comm);
        must(theirs[0] == step->remote_size * (step->remote_size - 1) / 2, "a sum of the other group");
        break;
    case 3:
        MPI_Allgather(mine, 1, MPI_INT, got, 1, MPI_INT, step->comm);
        must(got[step->remote_size - 1] == step->remote_size - 1, "what the other group has");
        break;
    default:
        MPI_Iallreduce(mine, theirs, 2, MPI_INT, MPI_MAX, step->comm, &request);
        end(step, &request);
        must(theirs[0] == step->remote_size - 1, "the largest of the other group");
    }
}

static MPI_Comm make_topology(Step* step)
{
    MPI_Comm made;
    if (one_in(&step->same, 2)) {
        int sizes[2] = {0, 0}, periods[2] = {one_in(&step->same, 2), one_in(&step->same, 2)};
        MPI_Dims_create(step->size, 2, sizes);
        MPI_Cart_create(step->comm, 2, sizes, periods, 0, &made);
        return made;
    }
    const int before = (step->rank + step->size - 1) % step->size, behind = (step->rank + 1) % step->size;
    bool names_both_ends = one_in(&step->same, 2);
#ifdef OPEN_MPI /* 4.1 hangs now and then in the other one, where it chooses the number of the new           \
                   communicator */
    names_both_ends = true;
#endif
    const int degree = 1;
    if (names_both_ends)
        MPI_Dist_graph_create_adjacent(step->comm, 1, &before, MPI_UNWEIGHTED, 1, &behind, MPI_UNWEIGHTED,
                                       MPI_INFO_NULL, 0, &made);
    else
        MPI_Dist_graph_create(step->comm, 1, &step->rank, &degree, &behind, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                              &made);
    return made;
}

void call_neighbours(Step* step)
{
    MPI_Comm topology = make_topology(step);
    int sent[4] = {step->tag, step->tag, step->tag, step->tag}, got[4] = {-1, -1, -1, -1};
    MPI_Request request;
    int kind, sources = 4;
    MPI_Topo_test(topology, &kind);
    if (kind == MPI_DIST_GRAPH) {
        int targets, is_weighted;
        MPI_Dist_graph_neighbors_count(topology, &sources, &targets, &is_weighted);
    }
    switch (below(&step->same, 3)) {
    case 0:
        MPI_Neighbor_allgather(sent, 1, MPI_INT, got, 1, MPI_INT, topology);
        break;
    case 1:
        MPI_Neighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, topology);
        break;
    default:
        MPI_Ineighbor_alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, topology, &request);
        end(step, &request);
    }
    for (int i = 0; i < sources; ++i) /* at the border there may be no neighbour */
        must(got[i] == step->tag || (kind == MPI_CART && got[i] == -1), "what neighbours sent");
    MPI_Comm_free(&topology);
}
