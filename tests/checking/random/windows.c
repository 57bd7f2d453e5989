/* windows.c - one-sided accesses, each in places of its own. */
#include <stdlib.h>

#include "steps.h"

/* In the window of each process: a block for each origin to write, one that is only read, and a counter. */
typedef struct {
    MPI_Win window;
    int* memory;
    int values;      /* of a block */
    bool is_created; /* of memory that is ours */
} Window;

static int block_of(const Window* window, int origin)
{
    return origin * window->values;
}

static int read_only_block(const Step* step, const Window* window)
{
    return step->size * window->values;
}

static int counter(const Step* step, const Window* window)
{
    return (step->size + 1) * window->values;
}

static Window open_window(Step* step)
{
    Window made = {.values = 1 + below(&step->same, most_values), .is_created = one_in(&step->same, 2)};
    const int all = (step->size + 1) * made.values + 1;
    /* MPICH 4.0 puts to wrong places in MPI_Win_allocate's memory of other sizes. */
    const MPI_Aint bytes = (all * (MPI_Aint)sizeof(int) + 63) / 64 * 64;
    if (made.is_created)
        made.memory = malloc((size_t)bytes);
    else
        MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, step->comm, &made.memory, &made.window);
    for (int i = 0; i < all; ++i)
        made.memory[i] = 0;
    set_values(made.memory + read_only_block(step, &made), MPI_INT, made.values, step->tag + step->rank);
    if (made.is_created)
        MPI_Win_create(made.memory, bytes, sizeof(int), MPI_INFO_NULL, step->comm, &made.window);
    else
        MPI_Barrier(step->comm); /* others may access it only now */
    return made;
}

static void close_window(Window* window)
{
    MPI_Win_free(&window->window);
    if (window->is_created)
        free(window->memory);
}

static void put(Step* step, const Window* window, const Layout* sent, int target)
{
    MPI_Put(sent->memory, sent->count, sent->type, target, block_of(window, step->rank), window->values,
            MPI_INT, window->window);
}

static void get(Step* step, const Window* window, const Layout* got, int target)
{
    MPI_Get(got->memory, got->count, got->type, target, read_only_block(step, window), window->values,
            MPI_INT, window->window);
}

static void count(Step* step, const Window* window, int target)
{
    static const int one = 1;
    MPI_Accumulate(&one, 1, MPI_INT, target, counter(step, window), 1, MPI_INT, MPI_SUM, window->window);
}

static void check_window(const Step* step, const Window* window, int origin, bool is_counted)
{
    compare_values(window->memory + block_of(window, origin), MPI_INT, window->values,
                   step->tag + 50 + origin, "what was put");
    must(window->memory[counter(step, window)] == (is_counted ? step->size : 0), "what was accumulated");
}

static void fence(Step* step, Window* window, const Layout* sent, const Layout* got, int target, int origin)
{
    const bool is_counted = one_in(&step->same, 2);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window->window);
    put(step, window, sent, target);
    get(step, window, got, target);
    for (int i = 0; i < step->size && is_counted; ++i)
        count(step, window, i);
    MPI_Win_fence(one_in(&step->same, 2) ? 0 : MPI_MODE_NOSUCCEED, window->window);
    check_window(step, window, origin, is_counted);
}

static void read_own_memory(Step* step, Window* window, int origin, bool is_counted)
{
    MPI_Barrier(step->comm);
    MPI_Win_lock(MPI_LOCK_SHARED, step->rank, 0, window->window);
    check_window(step, window, origin, is_counted);
    MPI_Win_unlock(step->rank, window->window);
    MPI_Barrier(step->comm);
}

static void lock(Step* step, Window* window, const Layout* sent, const Layout* got, int target, int origin)
{
    MPI_Win_lock(one_in(&step->own, 2) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, window->window);
    put(step, window, sent, target);
    if (one_in(&step->own, 2))
        MPI_Win_flush(target, window->window);
    get(step, window, got, target);
    MPI_Win_unlock(target, window->window);
    read_own_memory(step, window, origin, false);
}

static void lock_all(Step* step, Window* window, const Layout* sent, const Layout* got, int target,
                     int origin)
{
    static const int one = 1;
    int before;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Win_lock_all(0, window->window);
    MPI_Rput(sent->memory, sent->count, sent->type, target, block_of(window, step->rank), window->values,
             MPI_INT, window->window, &requests[0]);
    MPI_Rget(got->memory, got->count, got->type, target, read_only_block(step, window), window->values,
             MPI_INT, window->window, &requests[1]);
    complete(&step->own, 2, requests, statuses);
    for (int i = 0; i < step->size; ++i)
        MPI_Fetch_and_op(&one, &before, MPI_INT, i, counter(step, window), MPI_SUM, window->window),
            MPI_Win_flush_local(i, window->window);
    must(before >= 0 && before < step->size, "what was fetched");
    MPI_Win_unlock_all(window->window);
    read_own_memory(step, window, origin, true);
}

static MPI_Group group_of_one(MPI_Comm comm, int rank)
{
    MPI_Group all, one;
    MPI_Comm_group(comm, &all);
    MPI_Group_incl(all, 1, &rank, &one);
    MPI_Group_free(&all);
    return one;
}

static void post(Step* step, Window* window, const Layout* sent, const Layout* got, int target, int origin)
{
    MPI_Group origins = group_of_one(step->comm, origin), targets = group_of_one(step->comm, target);
    int done = 0;
    MPI_Win_post(origins, 0, window->window);
    MPI_Win_start(targets, 0, window->window);
    put(step, window, sent, target);
    get(step, window, got, target);
    MPI_Win_complete(window->window);
    if (one_in(&step->own, 2))
        MPI_Win_wait(window->window);
    else
        while (!done)
            MPI_Win_test(window->window, &done);
    check_window(step, window, origin, false);
    MPI_Group_free(&origins);
    MPI_Group_free(&targets);
}

void use_window(Step* step)
{
    static void (*const ways[])(Step*, Window*, const Layout*, const Layout*, int, int) = {fence, lock,
                                                                                           lock_all, post};
    Window window = open_window(step);
    const int shift = below(&step->same, step->size);
    const int target = (step->rank + shift) % step->size,
              origin = (step->rank + step->size - shift) % step->size;
    Layout sent = make_layout(&step->own, MPI_INT, window.values),
           got = make_layout(&step->own, MPI_INT, window.values);
    fill(&sent, step->tag + 50 + step->rank);
    ways[below(&step->same, sizeof ways / sizeof *ways)](step, &window, &sent, &got, target, origin);
    close_window(&window);
    compare(&got, window.values, step->tag + target, "what was got");
    drop(&sent);
    drop(&got);
}
