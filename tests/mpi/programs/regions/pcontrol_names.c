/* Named levels of MPI_Pcontrol, and levels of other tools that no name follows. */
#include "../check.h"

int main(int argc, char** argv)
{
    const int others[] = {-1, 3, 4, 5, 99, 1};

    begin(&argc, &argv);
    MPI_Pcontrol(100, "outer");
    MPI_Pcontrol(100, "inner");
    MPI_Pcontrol(101, "a mark");
    MPI_Pcontrol(-100, "inner");
    MPI_Pcontrol(-100, "outer");
    for (int i = 0; i < LENGTH(others); ++i)
        MPI_Pcontrol(others[i]);
    /* What stands in the place of a name that was not passed, as in Fortran. */
    MPI_Pcontrol(100, (const char*)1);
    MPI_Pcontrol(100, NULL);
    return finish();
}
