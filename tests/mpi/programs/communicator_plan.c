/* Makes communicators in all ways, at random: communicator_plan [SEED].
 *
 * All processes draw the same plan and each carries out its part. For each communicator that a process gets
 * it writes
 *
 *     label LABEL rank RANK_IN_ITS_GROUP : WORLD_RANKS [: WORLD_RANKS_OF_THE_OTHER_GROUP]
 *
 * to plan.<rank>, in the order of its calls. The label is the same on all members of a communicator, and of
 * no other one. */
#include "check.h"

enum { MOST_COMMUNICATORS = 64, STEPS = 24 };

struct communicator {
    MPI_Comm handle;
    int label;
    int is_inter;
    int is_ordered;       /* the members stand in the order of their world ranks */
    int side[MOST_RANKS]; /* of each world rank: 0 is no member, 1 and 2 are the groups */
};

static struct communicator pool[MOST_COMMUNICATORS];
static int count, next_label, next_tag;
static unsigned long state;
static FILE* report;
static MPI_Group world_group;

static int draw(int limit)
{
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (int)((state >> 33) % (unsigned long)limit);
}

static void print_group(MPI_Group group)
{
    int members, ranks[MOST_RANKS], in_world[MOST_RANKS];
    MPI_Group_size(group, &members);
    for (int i = 0; i < members; ++i) {
        ranks[i] = i;
    }
    MPI_Group_translate_ranks(group, members, ranks, world_group, in_world);
    fprintf(report, " :");
    for (int i = 0; i < members; ++i) {
        fprintf(report, " %d", in_world[i]);
    }
    MPI_Group_free(&group);
}

static void write_report(const struct communicator* made)
{
    MPI_Group group;
    int place;
    MPI_Comm_rank(made->handle, &place);
    fprintf(report, "label %d rank %d", made->label, place);
    MPI_Comm_group(made->handle, &group);
    print_group(group);
    if (made->is_inter) {
        MPI_Comm_remote_group(made->handle, &group);
        print_group(group);
    }
    fprintf(report, "\n");
}

/* A new one with the members of another. */
static struct communicator* like(const struct communicator* other)
{
    CHECK(count < MOST_COMMUNICATORS);
    struct communicator* const made = &pool[count++];
    *made = *other;
    made->handle = MPI_COMM_NULL;
    made->label = next_label++;
    return made;
}

static void drop_members(struct communicator* made, int (*keeps)(int world_rank, int argument), int argument)
{
    for (int i = 0; i < size; ++i) {
        if (!keeps(i, argument)) {
            made->side[i] = 0;
        }
    }
}

static int is_empty(const struct communicator* candidate)
{
    int sides[3] = {0};
    for (int i = 0; i < size; ++i) {
        ++sides[candidate->side[i]];
    }
    return sides[1] == 0 || (candidate->is_inter && sides[2] == 0);
}

static void made_one(struct communicator* made, MPI_Comm handle)
{
    CHECK((handle != MPI_COMM_NULL) == (made->side[rank] != 0));
    made->handle = handle;
    if (handle != MPI_COMM_NULL) {
        write_report(made);
    }
}

static struct communicator* any(int may_be_inter)
{
    for (;;) {
        struct communicator* const found = &pool[draw(count)];
        if (may_be_inter || !found->is_inter) {
            return found;
        }
    }
}

static int is_member(const struct communicator* candidate)
{
    return candidate->side[rank] != 0;
}

static void duplicate(void)
{
    struct communicator *const parent = any(1), *const made = like(parent);
    const int with_info = draw(2);
    MPI_Comm handle = MPI_COMM_NULL;
    if (is_member(parent)) {
        with_info ? MPI_Comm_dup_with_info(parent->handle, MPI_INFO_NULL, &handle)
                  : MPI_Comm_dup(parent->handle, &handle);
    }
    made_one(made, handle);
}

/* Two at once, on odd ranks in the other order. (Not with Open MPI 4.1, which now and then hangs then, also
 * without the tracer.) */
static void duplicate_two_at_once(void)
{
    struct communicator* const parents[] = {any(0), any(0)};
    struct communicator* const made[] = {like(parents[0]), like(parents[1])};
    MPI_Comm handles[] = {MPI_COMM_NULL, MPI_COMM_NULL};
    MPI_Request requests[] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
#ifdef OPEN_MPI
    const int first = 0;
#else
    const int first = parents[0] != parents[1] && rank % 2 == 1;
#endif
    for (int i = 0; i < 2; ++i) {
        const int which = i ^ first;
        if (is_member(parents[which])) {
            MPI_Comm_idup(parents[which]->handle, &handles[which], &requests[which]);
        }
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; ++i) {
        made_one(made[i ^ first], handles[i ^ first]);
    }
}

static int has_color(int world_rank, int colors_and_color)
{
    const int colors = colors_and_color / 16, color = colors_and_color % 16;
    return world_rank % colors == color;
}

/* The last color of three is nobody's. */
static void split(void)
{
    struct communicator *const parent = any(1), *mine = NULL;
    const int colors = 1 + draw(3), backwards = draw(2);
    MPI_Comm handle = MPI_COMM_NULL;
    for (int color = 0; color < colors && color < 2; ++color) {
        struct communicator* const made = like(parent);
        drop_members(made, has_color, colors * 16 + color);
        made->is_ordered = !backwards;
        if (is_empty(made)) {
            --count;
        } else if (is_member(made)) {
            mine = made;
        }
    }
    if (is_member(parent)) {
        const int color = rank % colors;
        MPI_Comm_split(parent->handle, color < 2 ? color : MPI_UNDEFINED, backwards ? -rank : rank, &handle);
        if (mine != NULL) {
            made_one(mine, handle);
        } else if (handle != MPI_COMM_NULL) { /* one side only has this color: no communicator to talk with */
            MPI_Comm_free(&handle);
            CHECK(!"a member of nothing");
        }
    }
}

static void split_by_type(void)
{
    struct communicator *const parent = any(0), *const made = like(parent);
    MPI_Comm handle = MPI_COMM_NULL;
    made->is_ordered = 1;
    if (is_member(parent)) {
        MPI_Comm_split_type(parent->handle, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &handle);
    }
    made_one(made, handle);
}

static int is_in_mask(int world_rank, int mask)
{
    return (mask >> world_rank) & 1;
}

/* Two groups with the same members, from the same parent; a call of its members or of all of the parent. */
static void create_from_group(void)
{
    struct communicator* const parent = any(0);
    const int is_call_of_all = draw(2), mask = 1 + draw((1 << size) - 1), tag = draw(2);
    MPI_Comm handle = MPI_COMM_NULL;
    MPI_Group members;
    int ranks[MOST_RANKS], n = 0;
    struct communicator* const made = like(parent);
    drop_members(made, is_in_mask, mask);
    if (is_empty(made)) {
        --count;
        return;
    }
    made->is_ordered = 1;
    for (int i = 0; i < size; ++i) {
        if (made->side[i]) {
            ranks[n++] = i;
        }
    }
    MPI_Group_incl(world_group, n, ranks, &members);
    if (is_member(parent) && is_call_of_all) {
        MPI_Comm_create(parent->handle, members, &handle);
    } else if (is_member(made)) {
        MPI_Comm_create_group(parent->handle, members, tag, &handle);
    }
    MPI_Group_free(&members);
    made_one(made, handle);
}

static int members_of(const struct communicator* all)
{
    int members = 0;
    for (int i = 0; i < size; ++i) {
        members += all->side[i] != 0;
    }
    return members;
}

static int position(const struct communicator* all, int world_rank)
{
    int place = 0;
    for (int i = 0; i < world_rank; ++i) {
        place += all->side[i] != 0;
    }
    return place;
}

static struct communicator* row_parent;
static int row_length;

static int is_in_row(int world_rank, int row)
{
    return position(row_parent, world_rank) / row_length == row;
}

/* A grid and its rows. */
static void make_grid(void)
{
    struct communicator* const parent = any(0);
    if (!parent->is_ordered) {
        return;
    }
    struct communicator* const grid = like(parent);
    int dims[2] = {0, 0};
    const int periods[2] = {0, 1}, keep[2] = {0, 1};
    MPI_Comm handle = MPI_COMM_NULL;
    MPI_Dims_create(members_of(parent), 2, dims);
    if (is_member(parent)) {
        MPI_Cart_create(parent->handle, 2, dims, periods, 0, &handle);
    }
    made_one(grid, handle);
    row_parent = grid;
    row_length = dims[1];
    struct communicator* mine = NULL;
    for (int row = 0; row < dims[0]; ++row) {
        struct communicator* const made = like(grid);
        drop_members(made, is_in_row, row);
        if (is_member(made)) {
            mine = made;
        }
    }
    if (mine != NULL) {
        MPI_Cart_sub(grid->handle, keep, &handle);
        made_one(mine, handle);
    }
}

/* The library may put the processes into another order. */
static void make_graph(void)
{
    struct communicator *const parent = any(0), *const made = like(parent);
    const int is_distributed = draw(2);
    MPI_Comm handle = MPI_COMM_NULL;
    made->is_ordered = 0;
    if (is_member(parent)) {
        int index[MOST_RANKS], edges[MOST_RANKS], mine;
        const int members = members_of(parent);
        MPI_Comm_rank(parent->handle, &mine);
        for (int i = 0; i < members; ++i) {
            index[i] = i + 1;
            edges[i] = (i + 1) % members;
        }
        const int before = (mine + members - 1) % members;
        if (is_distributed) {
            MPI_Dist_graph_create_adjacent(parent->handle, 1, &before, MPI_UNWEIGHTED, 1, &edges[mine],
                                           MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &handle);
        } else {
            MPI_Graph_create(parent->handle, members, index, edges, 1, &handle);
        }
    }
    made_one(made, handle);
}

static int are_disjoint(const struct communicator* one, const struct communicator* other)
{
    for (int i = 0; i < size; ++i) {
        if (one->side[i] && other->side[i]) {
            return 0;
        }
    }
    return 1;
}

static int first_member(const struct communicator* all)
{
    int i = 0;
    while (!all->side[i]) {
        ++i;
    }
    return i;
}

/* Two groups that have nothing in common but the world, and sometimes what they become together. */
static void connect_two(void)
{
    struct communicator *const one = any(0), *const other = any(0);
    if (!one->is_ordered || !other->is_ordered || !are_disjoint(one, other)) {
        return;
    }
    struct communicator* const inter = like(one);
    inter->is_inter = 1;
    for (int i = 0; i < size; ++i) {
        inter->side[i] = one->side[i] ? 1 : other->side[i] ? 2 : 0;
    }
    MPI_Comm handle = MPI_COMM_NULL;
    const int tag = next_tag++;
    if (is_member(one)) {
        MPI_Intercomm_create(one->handle, 0, MPI_COMM_WORLD, first_member(other), tag, &handle);
    } else if (is_member(other)) {
        MPI_Intercomm_create(other->handle, 0, MPI_COMM_WORLD, first_member(one), tag, &handle);
    }
    made_one(inter, handle);
    if (draw(2)) {
        struct communicator* const merged = like(inter);
        merged->is_inter = 0;
        merged->is_ordered = 0;
        for (int i = 0; i < size; ++i) {
            merged->side[i] = inter->side[i] != 0;
        }
        handle = MPI_COMM_NULL;
        if (is_member(inter)) {
            MPI_Intercomm_merge(inter->handle, is_member(one), &handle);
        }
        made_one(merged, handle);
    }
}

/* Its handle will soon mean another one. */
static void end_one(void)
{
    const int which = draw(count);
    if (which == 0) { /* the world */
        return;
    }
    if (pool[which].handle != MPI_COMM_NULL) {
        MPI_Comm_free(&pool[which].handle);
    }
    pool[which] = pool[--count];
}

int main(int argc, char** argv)
{
    void (*const steps[])(void) = {duplicate,
                                   duplicate_two_at_once,
                                   split,
                                   split,
                                   split_by_type,
                                   create_from_group,
                                   create_from_group,
                                   make_grid,
                                   make_graph,
                                   connect_two,
                                   connect_two,
                                   end_one,
                                   end_one,
                                   end_one};
    char name[32];
    begin(&argc, &argv);
    state = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    MPI_Comm_group(MPI_COMM_WORLD, &world_group);
    snprintf(name, sizeof name, "plan.%d", rank);
    report = fopen(name, "w");
    CHECK(report != NULL);
    pool[count++] = (struct communicator){.handle = MPI_COMM_WORLD, .is_ordered = 1, .label = next_label++};
    for (int i = 0; i < size; ++i) {
        pool[0].side[i] = 1;
    }
    for (int i = 0; i < STEPS; ++i) {
        steps[draw(LENGTH(steps))]();
    }
    fclose(report);
    MPI_Group_free(&world_group);
    return finish();
}
