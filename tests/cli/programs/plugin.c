/* A library that calls MPI, for programs that load it while they run; and a program that does. */
#include <dlfcn.h>
#include <stdio.h>

#ifdef HOST

int main(int argc, char** argv)
{
    void* const plugin = dlopen(argv[1], RTLD_NOW);
    int (*const work)(void) = plugin != NULL && argc == 2 ? (int (*)(void))dlsym(plugin, "work") : NULL;
    if (work == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    return work();
}

#else

#include <mpi.h>

int work(void)
{
    int rank, size, sum;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        puts(sum == size * (size - 1) / 2 ? "hello" : "wrong");
    MPI_Pcontrol(1, 2.5, "three");
    MPI_Finalize();
    return 0;
}

#endif
