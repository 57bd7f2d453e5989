/* steps.h - programs that are correct, made of steps that are chosen at random. All processes choose the same
 * steps without talking to each other: what a step has to know is drawn from numbers that all have. */
#ifndef STEPS_H
#define STEPS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "../../mpi/identity/random.h"

enum { most_values = 24, most_slots = 6 };

/* A communicator, or the parts of one: each process has the one that it is in, or MPI_COMM_NULL. */
typedef struct {
    MPI_Comm comm;
    bool is_inter;
    int group; /* of an inter-communicator: 0 or 1 */
    int id;    /* the same in all its members; other parts have another one */
} Slot;

typedef struct {
    const Slot* slot;
    MPI_Comm comm;
    int rank, size;  /* of an inter-communicator: of the own group */
    int remote_size; /* 0 in others */
    int tag;         /* this one and some after it are of no other step */
    Random same;     /* numbers that all members draw */
    Random own;      /* and those of this process */
    bool has_others; /* other threads take steps at the same time */
} Step;

/* So many values of a type, somewhere in memory. */
typedef struct {
    MPI_Datatype base; /* of each value */
    int values;
    MPI_Datatype type; /* count of them are the values */
    int count;
    bool is_made; /* the type is */
    void* memory;
} Layout;

/* Any layout for the values, with memory. */
Layout make_layout(Random* random, MPI_Datatype base, int values);
/* One without gaps. */
Layout make_plain(MPI_Datatype base, int values);
/* Frees its type, which operations in progress do not need any more. */
void forget_type(Layout* layout);
/* Frees its type and its memory. */
void drop(Layout* layout);
MPI_Datatype choose_base(Random* random);
/* The values have a seed; the first ones of a layout can be compared with them. */
void fill(const Layout* layout, int seed);
void compare(const Layout* layout, int values, int seed, const char* what);
/* The same for arrays of base. */
void set_values(void* array, MPI_Datatype base, int values, int seed);
void compare_values(const void* array, MPI_Datatype base, int values, int seed, const char* what);

/* Completes them in one of the ways there are, and tells of each where it came from. */
void complete(Random* own, int count, MPI_Request* requests, MPI_Status* statuses);
/* Takes over a request, and what is to be dropped and compared when it has completed, in some later step. */
void complete_later(MPI_Request request, Layout layout, int values, int seed, const char* what);
void complete_some_of_those(Random* own);
void complete_all_of_those(void);

void exchange_messages(Step* step);
void exchange_with_remote_group(Step* step);
void call_collective(Step* step);
void call_collective_of_two_groups(Step* step);
void call_neighbours(Step* step);
void use_window(Step* step);
void use_file(Step* step);
void use_small_things(Step* step);
/* Makes a communicator from that of the step. */
Slot make_communicator(Step* step);

void must(bool holds, const char* what);

#endif
