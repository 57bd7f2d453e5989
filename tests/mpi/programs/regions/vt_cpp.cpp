// The classes of the Collector's interface.
#include "../check.h"

#include <hdVT.h>

namespace {

void no_handles()
{
    VT_Function function("no handles", "C++", __FILE__, __LINE__);
}

void handles()
{
    VT_SCL_DEF_CXX(place);
    static VT_FuncDef definition("handles", "C++");
    VT_Function function(definition, place);
    no_handles();
}

} // namespace

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    VT_Region region;
    region.begin("call", "main");
    handles();
    region.end();
    MPI_Barrier(MPI_COMM_WORLD);
    region.begin("second", "main");
    return finish();
}
