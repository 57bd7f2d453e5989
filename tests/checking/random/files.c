/* files.c - a file of all members of a communicator, in which each has places of its own. */
#include <stdio.h>
#include <stdlib.h>

#include "steps.h"

typedef struct {
    MPI_File file;
    MPI_Offset begin; /* of our values, in those that we see */
    int values;
} Part;

static MPI_File open_file(Step* step)
{
    char name[64];
    MPI_File file;
    snprintf(name, sizeof name, "random-%d-%d", step->tag, step->slot->id);
    MPI_File_open(step->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    return file;
}

/* Blocks one after the other, or each value of a process behind that of the one before. */
static Part set_view(Step* step, MPI_File file)
{
    Part part = {file, 0, 1 + below(&step->same, most_values)};
    if (one_in(&step->same, 2)) {
        part.begin = (MPI_Offset)step->rank * part.values;
        MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
        return part;
    }
    MPI_Datatype all;
    MPI_Type_create_resized(MPI_INT, 0, step->size * (MPI_Aint)sizeof(int), &all);
    MPI_Type_commit(&all);
    MPI_File_set_view(file, step->rank * (MPI_Offset)sizeof(int), MPI_INT, all, "native", MPI_INFO_NULL);
    MPI_Type_free(&all);
    return part;
}

/* Whether all wrote together. */
static bool write_part(Step* step, const Part* part, const Layout* sent)
{
    MPI_Request request;
    MPI_Status status;
    const int way = below(&step->same, 5);
    switch (way) {
    case 0:
        MPI_File_write_at_all(part->file, part->begin, sent->memory, sent->count, sent->type, &status);
        break;
    case 1:
        MPI_File_write_at(part->file, part->begin, sent->memory, sent->count, sent->type, &status);
        break;
    case 2:
        MPI_File_iwrite_at(part->file, part->begin, sent->memory, sent->count, sent->type, &request);
        complete(&step->own, 1, &request, &status);
        break;
    case 3:
        MPI_File_seek(part->file, part->begin, MPI_SEEK_SET);
        MPI_File_write_all(part->file, sent->memory, sent->count, sent->type, &status);
        break;
    default:
        MPI_File_write_at_all_begin(part->file, part->begin, sent->memory, sent->count, sent->type);
        MPI_File_write_at_all_end(part->file, sent->memory, &status);
    }
    return way != 1 && way != 2;
}

static void read_part(Step* step, const Part* part, const Layout* got)
{
    MPI_Status status;
    MPI_Request request;
    int values;
    switch (below(&step->same, 3)) {
    case 0:
        MPI_File_read_at(part->file, part->begin, got->memory, got->count, got->type, &status);
        break;
    case 1:
        MPI_File_read_at_all(part->file, part->begin, got->memory, got->count, got->type, &status);
        break;
    default:
        MPI_File_iread_at(part->file, part->begin, got->memory, got->count, got->type, &request);
        complete(&step->own, 1, &request, &status);
    }
    MPI_Get_elements(&status, got->type, &values);
    must(values == part->values, "how much was read");
}

void use_file(Step* step)
{
    MPI_File file = open_file(step);
    const Part part = set_view(step, file);
    Layout sent = make_layout(&step->own, MPI_INT, part.values),
           got = make_layout(&step->own, MPI_INT, part.values);
    fill(&sent, step->tag + step->rank);
    if (one_in(&step->same, 3))
        MPI_File_set_atomicity(file, 1);
    /* Open MPI's processes return before others have written for them. */
    if (write_part(step, &part, &sent) || one_in(&step->same, 2)) {
        MPI_File_sync(file);
        MPI_Barrier(step->comm);
        MPI_File_sync(file);
    }
    read_part(step, &part, &got);
    compare(&got, part.values, step->tag + step->rank, "what was read");
    MPI_File_close(&file);
    drop(&sent);
    drop(&got);
}
