/* Calls MPI_Barrier from wherever a program may: callers() says from how many functions of this file. The
   arguments are libraries that have a function call_mpi(), which are loaded and unloaded one after the other.
 */
#include "check.h"
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#define BARRIER() CHECK_MPI(MPI_Barrier(MPI_COMM_SELF))

static volatile char sink;

/* A frame whose size is only known when it is made. */
__attribute__((noinline)) static void from_inner(int size)
{
    char* const room = alloca((size_t)size);
    room[size - 1] = 1;
    BARRIER();
    sink = room[size - 1];
}

__attribute__((noinline)) static void from_outer(int size)
{
    from_inner(size);
    from_inner(2 * size);
    sink = 0;
}

static void from_handler(int signal)
{
    (void)signal;
    BARRIER();
    sink = 0;
}

static void* from_thread(void* unused)
{
    BARRIER();
    sink = 0;
    return unused;
}

static void from_machine_code(void)
{
#ifdef __x86_64__
    unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0x48, 0xb8, 0,    0,    0,    0,   0,
                            0,    0,    0,    0xff, 0xd0, 0x48, 0x83, 0xc4, 0x08, 0xc3};
    int (*barrier)(MPI_Comm) = MPI_Barrier;
    memcpy(code + 6, &barrier, sizeof barrier);
    void* const place =
        mmap(NULL, sizeof code, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(place != MAP_FAILED);
    memcpy(place, code, sizeof code);
    int (*made)(MPI_Comm);
    memcpy(&made, &place, sizeof made);
    CHECK_MPI(made(MPI_COMM_SELF));
#endif
}

static void from_libraries(char** names)
{
    for (; *names != NULL; ++names) {
        void* const library = dlopen(*names, RTLD_NOW);
        CHECK(library != NULL);
        void (*call_mpi)(MPI_Comm);
        *(void**)&call_mpi = dlsym(library, "call_mpi");
        call_mpi(MPI_COMM_SELF);
        CHECK(dlclose(library) == 0);
    }
}

int main(int argc, char** argv)
{
    pthread_t thread;
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    find_place();
    from_outer(100);
    signal(SIGUSR1, from_handler);
    raise(SIGUSR1);
    CHECK(pthread_create(&thread, NULL, from_thread, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    from_machine_code();
    from_libraries(argv + 1);
    return finish();
}
