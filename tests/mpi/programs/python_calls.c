/* A library that calls MPI for a Python program, in a folder that says that it is mpi4py's. With
   STANDS_FOR_PYTHON a program that has such a library call MPI, and what the tracer asks of an interpreter,
   as a test sets it. */
#include <mpi.h>

#ifndef STANDS_FOR_PYTHON
void start(void)
{
    MPI_Init(0, 0);
}

void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

void stop(void)
{
    MPI_Finalize();
}
#else
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void start(void);
void barrier(void);
void stop(void);

/* Objects are eight words that lead back to the first: whatever is taken for a pointer is one. */
static void* object[512];
const unsigned long Py_Version = STANDS_FOR_PYTHON;
void* PyCode_Type[512];
uint64_t _PyRuntime[512] = RUNTIME;

void* PyGILState_GetThisThreadState(void)
{
    return THREAD;
}

int PyCode_Addr2Line(void* code, int instruction)
{
    (void)code, (void)instruction;
    abort(); /* only of an object that is a code */
}

int main(void)
{
    for (unsigned i = 0; i < sizeof object / sizeof *object; ++i)
        object[i] = object;
    start();
    barrier();
    barrier();
    stop();
    return 0;
}
#endif
