/* Looks at its floating-point environment around calls, so far apart that the clock is adjusted between. */
#include "check.h"

#include <fenv.h>
#include <unistd.h>

enum { PAUSES = 2, PAUSE = 120000 };

static void call_now_and_then(void)
{
    int called;
    for (int i = 0; i < PAUSES; ++i) {
        usleep(PAUSE);
        MPI_Comm_rank(MPI_COMM_WORLD, &called);
    }
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    feclearexcept(FE_ALL_EXCEPT);
    call_now_and_then();
    CHECK(fetestexcept(FE_ALL_EXCEPT) == 0);
    feenableexcept(FE_ALL_EXCEPT);
    const int trapped = fegetexcept(); /* none on processors that cannot */
    call_now_and_then();
    CHECK(fegetexcept() == trapped);
    fedisableexcept(FE_ALL_EXCEPT);
    return finish();
}
