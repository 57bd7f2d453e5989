/* Threads of OpenMP, whose library may tell ITT about them. */
#include "../check.h"

int main(int argc, char** argv)
{
    double sum = 0;
    begin(&argc, &argv);
#pragma omp parallel for num_threads(3) reduction(+ : sum)
    for (int i = 0; i < 1000; ++i)
        sum += i;
    CHECK(sum == 499500);
    return finish();
}
