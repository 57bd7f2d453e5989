/* MPI_Init without the program's arguments. */
#include "check.h"

int main(void)
{
    begin(NULL, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    return finish();
}
