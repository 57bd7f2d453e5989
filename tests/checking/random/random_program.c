/* A correct program: random_program SEED STEPS. */
#include <stdio.h>
#include <stdlib.h>

#include "steps.h"

static Slot slots[most_slots]; /* the first one is MPI_COMM_WORLD */
static int slot_count = 1;

static Step step_on(const Slot* slot, int number, Random same)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    Step step = {.slot = slot, .comm = slot->comm, .tag = 128 * number, .same = same};
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
                                          use_window,        use_file,          use_small_things};
    static void (*const ways_of_two_groups[])(Step*) = {exchange_with_remote_group,
                                                        call_collective_of_two_groups};
    if (step->comm == MPI_COMM_NULL)
        return;
    if (step->slot->is_inter)
        ways_of_two_groups[below(&step->same, 2)](step);
    else
        ways[below(&step->same, sizeof ways / sizeof *ways)](step);
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

int main(int argc, char** argv)
{
    static char buffer[1 << 20];
    MPI_Init(&argc, &argv);
    if (argc != 3) {
        fprintf(stderr, "usage: random_program SEED STEPS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const int seed = atoi(argv[1]), steps = atoi(argv[2]);
    void* detached;
    int size;
    slots[0].comm = MPI_COMM_WORLD;
    MPI_Buffer_attach(buffer, sizeof buffer);
    for (int number = 1; number <= steps; ++number) {
        Random same = (Random)seed * 1000003u + (Random)number * 7919u;
        const int chosen = below(&same, slot_count);
        Step step = step_on(&slots[chosen], number, same);
        if (one_in(&step.same, 6))
            change_communicators(&step, chosen);
        else
            work(&step);
        complete_some_of_those(&step.own);
    }
    complete_all_of_those();
    while (--slot_count > 0)
        if (slots[slot_count].comm != MPI_COMM_NULL)
            MPI_Comm_free(&slots[slot_count].comm);
    MPI_Buffer_detach(&detached, &size);
    MPI_Finalize();
    return 0;
}
