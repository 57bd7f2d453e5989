// _hdtrace - the C++ readers for Python. Glue only: what is more than a conversion is in the package hdtrace.
#include <pybind11/pybind11.h>

#include "python/src/bindings.h"

PYBIND11_MODULE(_hdtrace, module)
{
    using namespace hdtrace;
    bind_errors(module);
    bind_traces(module);
    bind_project(module);
    bind_calls(module);
    bind_matches(module);
    bind_statistics(module);
    bind_checks(module);
    bind_writer(module);
}
