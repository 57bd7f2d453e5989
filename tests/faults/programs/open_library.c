/* Loads the MPI library by itself, out of everybody's sight; it is not linked with it. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv)
{
    void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL)
        return 97;
    int (*init)(int*, char***) = (int (*)(int*, char***))dlsym(library, "MPI_Init");
    int (*finalize)(void) = (int (*)(void))dlsym(library, "MPI_Finalize");
    printf("init %d\n", init(&argc, &argv));
    printf("finalize %d\n", finalize());
    return 0;
}
