/* check.h - what every test program starts from: the world, checks that end the program, a clean end. */
#ifndef CHECK_H
#define CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))
/* For calls whose errors do not end the program by themselves, such as those on files. */
#define CHECK_MPI(call) CHECK((call) == MPI_SUCCESS)
#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { MOST_RANKS = 8 };

static int rank, size;  /* of this process in MPI_COMM_WORLD */
static int left, right; /* its neighbours in a ring */

static inline void check_failed(const char* file, int line, const char* condition)
{
    fprintf(stderr, "%s:%d: rank %d: not true: %s\n", file, line, rank, condition);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline void find_place(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= MOST_RANKS);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
}

static inline void begin(int* argc, char*** argv)
{
    MPI_Init(argc, argv);
    find_place();
}

static inline int finish(void)
{
    if (rank == 0) {
        printf("all is well with %d ranks\n", size);
    }
    MPI_Finalize();
    return EXIT_SUCCESS;
}

#endif
