// project-merger: unifies the objects of all processes of a traced program into one project.

#include "merger/input_reader.h"
#include "merger/tool.h"

int main(int argc, char** argv)
{
    hdtrace::merger::InputReader reader;
    return hdtrace::merger::run_merger(argc, argv, reader);
}
