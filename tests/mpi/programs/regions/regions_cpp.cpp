// Regions of a program in C++: until the end of a block, also when an exception leaves it.
#include "../check.h"

#include <hdRegion.h>
#include <stdexcept>

namespace {

void solve(int depth)
{
    HD_SCOPE_IN("numerics", "solve");
    if (depth == 0)
        throw std::runtime_error("no solution");
    solve(depth - 1);
}

} // namespace

int main(int argc, char** argv)
{
    hdtrace::RegionScope too_early(hdR_beginNamed("too early"), "too early");
    begin(&argc, &argv);
    {
        HD_SCOPE("outer");
        MPI_Barrier(MPI_COMM_WORLD);
        try {
            solve(1);
        } catch (const std::runtime_error&) {
            hdR_markNamed("caught");
        }
        hdtrace::RegionScope by_name(hdR_beginNamed("by/name"), "by/name");
        MPI_Barrier(MPI_COMM_WORLD);
        by_name.end();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return finish();
}
