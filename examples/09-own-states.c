/* A program without MPI writes a trace of its own: two workers, what they do and when. */
#include <errno.h>
#include <hdTrace.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 2, STEPS = 3 };

static void fail(const char* what)
{
    fprintf(stderr, "%s: %s\n", what, hdT_strerror(errno));
    exit(EXIT_FAILURE);
}

static hdTrace* create_trace(const hdTopology* topology, const char* host, int worker)
{
    char number[16];
    const char* labels[] = {host, number};
    snprintf(number, sizeof number, "%d", worker);
    hdTopoNode* node = hdT_createTopoNode(topology, labels, 2);
    hdTrace* trace = node ? hdT_createTrace(node) : NULL;
    if (!trace) {
        fail("cannot create a trace");
    }
    hdT_destroyTopoNode(node);
    hdT_enableTrace(trace);
    return trace;
}

/* Calls of the library that fail leave a hole in the trace and nothing worse; hdT_finalize() tells. */
static void work(hdTrace* trace, int worker)
{
    hdT_logStateStart(trace, "Work");
    hdT_logAttribute(trace, "who", "worker <one of two>");
    for (int step = 0; step < STEPS; ++step) {
        hdT_logStateStart(trace, "Step");
        hdT_logAttributes(trace, "number='%d'", step);
        hdT_logElement(trace, "Data", "size='%d'", 100 * worker + step);
        hdT_logStateEnd(trace);
    }
    hdT_logStateEnd(trace);
    hdT_logEvent(trace, "done");
}

int main(void)
{
    hdTopology* topology = hdT_createTopology("own-states", (const char*[]){"Host", "Worker"}, 2);
    if (!topology) {
        fail("cannot describe the traces");
    }
    for (int worker = 0; worker < WORKERS; ++worker) {
        hdTrace* trace = create_trace(topology, "here", worker);
        work(trace, worker);
        if (hdT_finalize(trace) != 0) {
            fail("the trace is not complete");
        }
    }
    hdT_destroyTopology(topology);
    printf("%d traces are written\n", WORKERS);
    return EXIT_SUCCESS;
}
