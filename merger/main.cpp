// project-merger: unifies the objects of all processes of a traced program into one project.

#include "merger/cores_reader.h"
#include "merger/tool.h"

int main(int argc, char** argv)
{
    hdtrace::merger::CoresReader reader;
    return hdtrace::merger::run_merger(argc, argv, reader);
}
