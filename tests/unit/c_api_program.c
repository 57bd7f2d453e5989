/* A plain C program, compiled and linked by the C compiler: the library needs nothing else. */
#include "hdTrace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int failures = 0;

static void expect(int is_true, const char* what)
{
    if (!is_true) {
        fprintf(stderr, "%s (errno: %s)\n", what, hdT_strerror(errno));
        ++failures;
    }
}

static void write_trace(hdTrace* trace)
{
    expect(hdT_enableTrace(trace) == 0, "enable");
    expect(hdT_logStateStart(trace, "Step") == 0, "start");
    expect(hdT_logAttributes(trace, "number='%d' part='%.1f'", 1, 0.5) == 0, "attributes");
    expect(hdT_logElement(trace, "Input", "size='%zu'", sizeof(int)) == 0, "element");
    expect(hdT_logStateEnd(trace) == 0, "end");
    expect(hdT_logEvent(trace, "done") == 0, "event");
    expect(hdT_writeInfo(trace, "Step number=%d", 1) == 0, "info");
}

static void expect_in_file(const char* path, const char* text)
{
    char content[4096] = "";
    FILE* file = fopen(path, "r");
    expect(file != NULL, path);
    if (file == NULL)
        return;
    content[fread(content, 1, sizeof content - 1, file)] = '\0';
    fclose(file);
    expect(strstr(content, text) != NULL, text);
}

int main(void)
{
    const char* const levels[] = {"Host", "Worker"};
    const char* const labels[] = {"node01", "3"};
    hdTopology* topology = hdT_createTopology("c_program", levels, 2);
    hdTopoNode* node = hdT_createTopoNode(topology, labels, 2);
    hdTrace* trace = hdT_createTrace(node);
    expect(trace != NULL, "create");
    if (trace == NULL)
        return 1;
    write_trace(trace);
    expect(hdT_finalize(trace) == 0, "finalize");
    expect(hdT_destroyTopoNode(node) == 0, "destroy node");
    expect(hdT_destroyTopology(topology) == 0, "destroy topology");
    expect_in_file("c-program_node01_3.trc", "<Step number='1' part='0.5' time='");
    expect_in_file("c-program_node01_3.trc", " ><Input size='4' /></Step>\n<Event name='done' time='");
    expect_in_file("c-program_node01_3.info", "\nStep number=1\nEnd states=1 dropped=0\n");
    return failures == 0 ? 0 : 1;
}
