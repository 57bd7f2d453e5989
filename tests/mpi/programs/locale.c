/* A program that chooses a locale with another decimal sign, and prints a number to prove it. */
#include "check.h"

#include <locale.h>

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    CHECK(setlocale(LC_ALL, "") != NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        printf("a half is %.1f\n", 0.5);
    }
    return finish();
}
