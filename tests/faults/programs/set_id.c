/* Tells with whose rights it runs, and wants a trace of its own besides. */
#include "prelude.h"

#include <errno.h>
#include <hdTrace.h>
#include <sys/auxv.h>

static const char* own_trace(void)
{
    const char* const levels[] = {"Host"};
    const char* const labels[] = {"a"};
    hdTopology* const topology = hdT_createTopology("own", levels, 1);
    hdTopoNode* const node = hdT_createTopoNode(topology, labels, 1);
    hdTrace* const trace = hdT_createTrace(node);
    return trace == NULL ? hdT_strerror(errno) : hdT_finalize(trace) == 0 ? "made" : "not finished";
}

int main(int argc, char** argv)
{
    begin_calls(&argc, &argv);
    MPI_Finalize();
    printf("secure %ld, own trace: %s\n", getauxval(AT_SECURE), own_trace());
    return 0;
}
