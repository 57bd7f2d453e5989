/* edge_cases.h - programs that say what they see: whatever it is, it must be the same with and without the
 * tracer. */
#ifndef EDGE_CASES_H
#define EDGE_CASES_H

#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

static int rank, size, left, right;

/* Where this process says what it sees: launchers mix the outputs of processes. */
static inline FILE* notes(void)
{
    static FILE* file;
    if (file == NULL) {
        const char *open_mpi = getenv("OMPI_COMM_WORLD_RANK"), *mpich = getenv("PMI_RANK");
        char name[40];
        snprintf(name, sizeof name, "notes-%s", open_mpi != NULL ? open_mpi : mpich != NULL ? mpich : "0");
        file = fopen(name, "ae");
        setvbuf(file, NULL, _IOLBF, BUFSIZ);
    }
    return file;
}

/* One line of what this process sees. */
__attribute__((format(printf, 1, 2))) static inline void say(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(notes(), format, arguments);
    va_end(arguments);
    fputc('\n', notes());
}

static inline int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

/* What a call returned. */
#define SAY(call) say("%s -> %d", #call, class_of(call))

static inline void begin(int* argc, char*** argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
}

static inline void return_errors(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static inline int finish(void)
{
    MPI_Finalize();
    return EXIT_SUCCESS;
}

/* A status that shows which of its fields MPI wrote. */
static inline MPI_Status untouched(void)
{
    MPI_Status status;
    memset(&status, 0, sizeof status);
    status.MPI_SOURCE = -111;
    status.MPI_TAG = -222;
    status.MPI_ERROR = -333;
    return status;
}

static inline void say_status(const char* what, const MPI_Status* status)
{
    int count = -5, cancelled = -5;
    const int error = status->MPI_ERROR;
    if (status->MPI_SOURCE != -111) {
        MPI_Get_count(status, MPI_BYTE, &count);
        MPI_Test_cancelled(status, &cancelled);
    }
    say("%s: source %d tag %d error %d bytes %d cancelled %d", what, status->MPI_SOURCE, status->MPI_TAG,
        error > 0 ? class_of(error) : error, count, cancelled);
}

#endif
