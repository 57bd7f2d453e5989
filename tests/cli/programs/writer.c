#include <hdTrace.h>

int main(void)
{
    const char* levels[] = {"Host", "Worker"};
    const char* labels[] = {"node01", "3"};
    hdTopology* topology = hdT_createTopology("solver", levels, 2);
    hdTopoNode* node = hdT_createTopoNode(topology, labels, 2);
    hdTrace* trace = hdT_createTrace(node);
    hdT_enableTrace(trace);
    hdT_logStateStart(trace, "Step");
    hdT_logAttributes(trace, "number='%d'", 1);
    hdT_logStateEnd(trace);
    return hdT_finalize(trace);
}
