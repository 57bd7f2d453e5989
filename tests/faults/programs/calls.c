/* Makes calls, and ends as it should. */
#include "prelude.h"

int main(int argc, char** argv)
{
    begin_calls(&argc, &argv);
    MPI_Finalize();
    return 0;
}
