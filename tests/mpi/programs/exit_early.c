/* A program that ends without MPI_Finalize: by exit, or with the argument "_exit" without any clean-up. */
#include "check.h"

#include <unistd.h>

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    MPI_Bcast(&size, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (argc > 1 && strcmp(argv[1], "_exit") == 0) {
        _exit(3);
    }
    exit(3);
}
