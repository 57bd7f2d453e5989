/* The process sends itself the signal that its argument names. */
#include "check.h"

#include <signal.h>

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    raise(atoi(argv[1]));
    return finish();
}
