/* type_map.h - notes what MPI does with one element of a datatype, in a file log-<rank>:
   NAME SIZE LB EXTENT TRUE_LB TRUE_EXTENT and the bytes in the order in which MPI_Pack takes them, as
   BEGIN:END. */
#ifndef TYPE_MAP_H
#define TYPE_MAP_H

#include "../programs/check.h"

enum {
    MOST_BYTES = 1 << 18, /* of data in a type */
    MOST_SPAN = 1 << 22   /* between its first and last byte, in both directions */
};

static FILE* log_file;

static inline void open_log(void)
{
    char name[40];
    snprintf(name, sizeof name, "log-%d", rank);
    log_file = fopen(name, "w");
    CHECK(log_file != NULL);
}

/* Each byte of the memory that the type may touch tells in turn a part of its own place. */
static inline void find_places(MPI_Datatype type, int bytes, MPI_Aint begin, MPI_Aint end, int* places)
{
    static unsigned char memory[2 * MOST_SPAN], packed[MOST_BYTES + 1];
    CHECK(bytes <= MOST_BYTES && begin >= -MOST_SPAN && end <= MOST_SPAN);
    memset(places, 0, (size_t)bytes * sizeof *places);
    for (int part = 0; part < 3; ++part) {
        int position = 0;
        for (MPI_Aint i = MOST_SPAN + begin; i < MOST_SPAN + end; ++i) {
            memory[i] = (unsigned char)(i >> 8 * part);
        }
        MPI_Pack(memory + MOST_SPAN, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF);
        CHECK(position == bytes);
        for (int i = 0; i < bytes; ++i) {
            places[i] |= packed[i] << 8 * part;
        }
    }
}

static inline void note_order(MPI_Datatype type, int bytes, MPI_Aint first, MPI_Aint last)
{
    static int places[MOST_BYTES];
    find_places(type, bytes, first, last, places);
    for (int i = 0, begin = 0; i < bytes; ++i) {
        if (i + 1 == bytes || places[i + 1] != places[i] + 1) {
            fprintf(log_file, " %d:%d", places[begin] - MOST_SPAN, places[i] + 1 - MOST_SPAN);
            begin = i + 1;
        }
    }
}

/* Commits the type, gives it the name, which has no spaces, and frees it unless it is predefined. */
static inline void note_type(const char* name, MPI_Datatype type)
{
    int bytes;
    MPI_Aint lb, extent, true_lb, true_extent;
    MPI_Type_commit(&type);
    MPI_Type_set_name(type, name);
    MPI_Type_size(type, &bytes);
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_true_extent(type, &true_lb, &true_extent);
    if (bytes == 0) { /* of nothing there is no first byte */
        true_lb = true_extent = 0;
    }
    fprintf(log_file, "%s %d %ld %ld %ld %ld", name, bytes, (long)lb, (long)extent, (long)true_lb,
            (long)true_extent);
    note_order(type, bytes, true_lb, true_lb + true_extent);
    fputc('\n', log_file);
    MPI_Type_free(&type);
}

#endif
