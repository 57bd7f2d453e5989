/* A correct program: random_program SEED STEPS [THREADS]. Each of several threads has steps and communicators
 * of its own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "steps.h"

#ifdef OPEN_MPI /* 4.1 hangs where several threads make communicators, and has no windows for them */
enum { most_threads = 8, threads_make_communicators = false, ways_of_threads = 5 };
#else
enum { most_threads = 8, threads_make_communicators = true, ways_of_threads = 7 };
#endif

static _Thread_local Slot slots[most_slots]; /* the first one has all processes */
static _Thread_local int slot_count = 1;
static int steps, thread_count = 1;

static Step step_on(const Slot* slot, int number, Random same)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Step step = {
        .slot = slot, .comm = slot->comm, .tag = 128 * number, .same = same, .has_others = thread_count > 1};
    step.own = same + (Random)(rank + 1) * 0x9E3779B97F4A7C15u * 1000;
    if (slot->comm == MPI_COMM_NULL)
        return step;
    MPI_Comm_rank(slot->comm, &step.rank);
    MPI_Comm_size(slot->comm, &step.size);
    if (slot->is_inter)
        MPI_Comm_remote_size(slot->comm, &step.remote_size);
    return step;
}

static void work(Step* step)
{
    static void (*const ways[])(Step*) = {exchange_messages, exchange_messages, exchange_messages,
                                          call_collective,   call_collective,   call_neighbours,
                                          use_small_things,  use_window,        use_file};
    static void (*const ways_of_two_groups[])(Step*) = {exchange_with_remote_group,
                                                        call_collective_of_two_groups};
    if (step->comm == MPI_COMM_NULL)
        return;
    if (step->slot->is_inter)
        ways_of_two_groups[below(&step->same, 2)](step);
    else
        ways[below(&step->same, step->has_others ? ways_of_threads : (int)(sizeof ways / sizeof *ways))](
            step);
}

static void change_communicators(Step* step, int chosen)
{
    if (slot_count < most_slots && (slot_count == 1 || one_in(&step->same, 2))) {
        slots[slot_count] = *step->slot;
        if (step->comm != MPI_COMM_NULL)
            slots[slot_count] = make_communicator(step);
        ++slot_count;
    } else if (chosen > 0) {
        if (step->comm != MPI_COMM_NULL)
            MPI_Comm_free(&slots[chosen].comm);
        slots[chosen] = slots[--slot_count];
    }
}

static void run(int seed, MPI_Comm comm)
{
    slots[0].comm = comm;
    for (int number = 1; number <= steps; ++number) {
        Random same = (Random)seed * 1000003u + (Random)number * 7919u;
        const int chosen = below(&same, slot_count);
        Step step = step_on(&slots[chosen], number, same);
        if (one_in(&step.same, 6) && (!step.has_others || threads_make_communicators))
            change_communicators(&step, chosen);
        else
            work(&step);
        complete_some_of_those(&step.own);
    }
    complete_all_of_those();
    while (--slot_count > 0)
        if (slots[slot_count].comm != MPI_COMM_NULL)
            MPI_Comm_free(&slots[slot_count].comm);
}

typedef struct {
    pthread_t thread;
    int seed;
    MPI_Comm comm;
} Runner;

static void* run_in_thread(void* given)
{
    Runner* const runner = given;
    run(runner->seed, runner->comm);
    MPI_Comm_free(&runner->comm);
    return NULL;
}

static void run_in_threads(int seed)
{
    Runner runners[most_threads];
    for (int i = 0; i < thread_count; ++i) {
        runners[i].seed = seed + 10000 * i;
        MPI_Comm_dup(MPI_COMM_WORLD, &runners[i].comm);
    }
    for (int i = 0; i < thread_count; ++i)
        pthread_create(&runners[i].thread, NULL, run_in_thread, &runners[i]);
    for (int i = 0; i < thread_count; ++i)
        pthread_join(runners[i].thread, NULL);
}

int main(int argc, char** argv)
{
    static char buffer[1 << 20];
    int level;
    if (argc > 3)
        thread_count = atoi(argv[3]);
    MPI_Init_thread(&argc, &argv, thread_count > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    if (argc < 3 || thread_count < 1 || thread_count > most_threads) {
        fprintf(stderr, "usage: random_program SEED STEPS [THREADS]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int seed = atoi(argv[1]);
    steps = atoi(argv[2]);
    void* detached;
    int size;
    MPI_Buffer_attach(buffer, sizeof buffer);
    if (thread_count > 1)
        run_in_threads(seed);
    else
        run(seed, MPI_COMM_WORLD);
    MPI_Buffer_detach(&detached, &size);
    MPI_Finalize();
    return 0;
}
