/* communicators.c - communicators that are made of others, and what is done with them besides. */
#include <stdio.h>
#include <stdlib.h>

#include "steps.h"

static Slot slot_of(MPI_Comm comm, int id)
{
    Slot made = {comm, false, 0, id};
    return made;
}

static Slot split(Step* step)
{
    Slot made = slot_of(MPI_COMM_NULL, step->tag);
    const int parts = 1 + below(&step->same, 3), left_out = below(&step->same, 4);
    int color = step->rank % parts;
    if (step->rank == left_out)
        color = MPI_UNDEFINED;
    MPI_Comm_split(step->comm, color, one_in(&step->same, 2) ? 0 : -step->rank, &made.comm);
    made.id += color;
    return made;
}

/* Of all but the first ones, and all of whom call, or those who are in it. */
static Slot make_of_group(Step* step)
{
    Slot made = slot_of(MPI_COMM_NULL, step->tag);
    const int first = below(&step->same, step->size);
    const bool by_members = one_in(&step->same, 2);
    int range[1][3] = {{step->size - 1, first, -1}};
    MPI_Group all, some;
    MPI_Comm_group(step->comm, &all);
    MPI_Group_range_incl(all, 1, range, &some);
    if (!by_members)
        MPI_Comm_create(step->comm, some, &made.comm);
    else if (step->rank >= first)
        MPI_Comm_create_group(step->comm, some, step->tag, &made.comm);
    MPI_Group_free(&all);
    MPI_Group_free(&some);
    return made;
}

static Slot duplicate(Step* step)
{
    Slot made = slot_of(MPI_COMM_NULL, step->tag);
    MPI_Request request;
    MPI_Info info;
    switch (below(&step->same, 3)) {
    case 0:
        MPI_Comm_dup(step->comm, &made.comm);
        break;
    case 1:
        MPI_Comm_idup(step->comm, &made.comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Info_create(&info);
        MPI_Info_set(info, "chosen", "at random");
        MPI_Comm_dup_with_info(step->comm, info, &made.comm);
        MPI_Info_free(&info);
    }
    return made;
}

static Slot make_of_two_groups(Step* step)
{
    Slot made = {MPI_COMM_NULL, true, step->rank % 2, step->tag};
    MPI_Comm half;
    MPI_Comm_split(step->comm, made.group, step->rank, &half);
    MPI_Intercomm_create(half, 0, step->comm, 1 - made.group, step->tag, &made.comm);
    MPI_Comm_free(&half);
    return made;
}

static Slot merge(Step* step)
{
    Slot made = slot_of(MPI_COMM_NULL, step->tag);
    MPI_Intercomm_merge(step->comm, step->slot->group, &made.comm);
    return made;
}

Slot make_communicator(Step* step)
{
    const int id = step->slot->id;
    int way = below(&step->same, 5);
    if (way == 2 && step->has_others)
        way = 3; /* threads that make them between the same groups: nobody knows which one is which */
    Slot made = step->slot->is_inter                       ? merge(step)
                : way == 0                                 ? duplicate(step)
                : way == 1 || (way == 2 && step->size < 2) ? make_of_group(step)
                : way == 2                                 ? make_of_two_groups(step)
                                                           : split(step);
    made.id = (made.id + 8 * id) % 1000003; /* parts of parts differ, too */
    return made;
}

static _Thread_local int copied, deleted;

static int copy(MPI_Comm comm, int key, void* extra, void* value, void* copy_of_value, int* is_copied)
{
    (void)comm, (void)key, (void)extra;
    *(void**)copy_of_value = value;
    *is_copied = 1;
    ++copied;
    return MPI_SUCCESS;
}

static int forget(MPI_Comm comm, int key, void* value, void* extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    ++deleted;
    return MPI_SUCCESS;
}

static void use_attributes(Step* step)
{
    int key, is_set, *found, value = step->tag;
    MPI_Comm other;
    copied = deleted = 0;
    MPI_Comm_create_keyval(copy, forget, &key, NULL);
    MPI_Comm_set_attr(step->comm, key, &value);
    MPI_Comm_dup(step->comm, &other);
    MPI_Comm_get_attr(other, key, &found, &is_set);
    must(is_set && *found == value, "an attribute");
    MPI_Comm_delete_attr(step->comm, key);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&other);
    must(copied == 1 && deleted == 2, "the number of copies of an attribute");
}

static void use_names(Step* step)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length, result;
    snprintf(name, sizeof name, "of step %d", step->tag);
    MPI_Comm_set_name(step->comm, name);
    MPI_Comm_get_name(step->comm, name, &length);
    MPI_Comm_compare(step->comm, step->comm, &result);
    must(result == MPI_IDENT, "a communicator");
}

/* An error that the program asks for. */
static void get_an_error(Step* step)
{
    MPI_Errhandler before;
    int class, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm_get_errhandler(step->comm, &before);
    MPI_Comm_set_errhandler(step->comm, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_ERR_RANK, &class);
    MPI_Error_string(class, text, &length);
    MPI_Comm_set_errhandler(step->comm, before);
    MPI_Errhandler_free(&before);
}

void use_small_things(Step* step)
{
    static void (*const ways[])(Step*) = {use_attributes, use_names, get_an_error};
    ways[below(&step->same, sizeof ways / sizeof *ways)](step);
}
