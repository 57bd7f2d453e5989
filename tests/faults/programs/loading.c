/* One thread loads a library; while its constructors run, the loader lets no other thread in. The main thread
   does then what makes the tracer ask the loader, and the next constructor does the same. */
#include <mpi.h>
#include <semaphore.h>
#include <unistd.h>

#ifdef LIBRARY

#include <hdRegion.h>

void wait_for_main_thread(void);

/* Before that of hdRegion.h, which asks for the tracer. */
__attribute__((section(".init_array.00100"), used)) static void (*const first)(void) = wait_for_main_thread;

__attribute__((constructor)) static void last(void)
{
    int is_initialised;
    MPI_Initialized(&is_initialised);
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static sem_t is_loading;

void wait_for_main_thread(void)
{
    sem_post(&is_loading);
    usleep(300000); /* it waits for the loader, where nobody sees it */
}

static void* load(void* file)
{
    return dlopen(file, RTLD_NOW);
}

__attribute__((noinline)) static void enter_function(void)
{
    __asm__("");
}

/* loading (init | function) LIBRARY */
int main(int argc, char** argv)
{
    const int is_first_call = argc == 3 && strcmp(argv[1], "init") == 0;
    pthread_t loader;
    void* library = NULL;
    sem_init(&is_loading, 0, 0);
    if (!is_first_call)
        MPI_Init(&argc, &argv);
    pthread_create(&loader, NULL, load, argv[2]);
    sem_wait(&is_loading);
    if (is_first_call)
        MPI_Init(&argc, &argv);
    else
        enter_function();
    pthread_join(loader, &library);
    puts(library != NULL ? "loaded" : dlerror());
    return MPI_Finalize();
}

#endif
