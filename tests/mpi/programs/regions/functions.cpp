// Every function of this program tells the compiler's hooks that it begins and ends.
#include "../check.h"

#include <stdexcept>

namespace shapes {

static void __attribute__((noinline)) hidden()
{
    MPI_Barrier(MPI_COMM_WORLD);
}

template <typename Number> Number __attribute__((noinline)) recursive(Number depth)
{
    return depth == 0 ? 0 : 1 + recursive(depth - 1);
}

void __attribute__((noinline)) throws()
{
    throw std::runtime_error("as expected");
}

} // namespace shapes

static void __attribute__((noinline)) starts(int* argc, char*** argv)
{
    begin(argc, argv);
}

int main(int argc, char** argv)
{
    starts(&argc, &argv);
    shapes::hidden();
    CHECK(shapes::recursive(2L) == 2);
    try {
        shapes::throws();
    } catch (const std::runtime_error&) {
        shapes::hidden();
    }
    return finish();
}
