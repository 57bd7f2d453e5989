/* io.h - a file of the program's own for each test of input and output. */
#ifndef IO_H
#define IO_H

#include "check.h"

enum { BLOCK = 4, BLOCK_BYTES = BLOCK * (int)sizeof(int) };

static MPI_File file;
static int sent[BLOCK], received[BLOCK];

static inline void open_data(void)
{
    CHECK_MPI(
        MPI_File_open(MPI_COMM_WORLD, "test.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    for (int i = 0; i < BLOCK; ++i) {
        sent[i] = 10 * rank + i;
    }
}

static inline void close_data(void)
{
    CHECK_MPI(MPI_File_close(&file));
}

/* Compares what was read with what this process wrote, and forgets it. */
static inline void check_received(void)
{
    CHECK(memcmp(sent, received, sizeof sent) == 0);
    memset(received, -1, sizeof received);
}

/* What the others wrote may be read from here on. */
static inline void hand_over(void)
{
    CHECK_MPI(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_MPI(MPI_File_sync(file));
}

static inline void check_count(const MPI_Status* status)
{
    int count;
    MPI_Get_count(status, MPI_INT, &count);
    CHECK(count == BLOCK);
}

static inline void wait_for(MPI_Request* request)
{
    MPI_Status status;
    CHECK_MPI(MPI_Wait(request, &status));
    check_count(&status);
}

#endif
