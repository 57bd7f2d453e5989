/* A program that ends without MPI_Finalize: by exit, or with the argument "_exit" without any clean-up. */
#include "check.h"

#include <unistd.h>

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(200000); /* now all are out of it */
    if (argc > 1 && strcmp(argv[1], "_exit") == 0) {
        _exit(3);
    }
    exit(3);
}
