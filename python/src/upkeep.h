// upkeep.h - the part of the module _hdtrace that handles files of projects.
#pragma once

#include <pybind11/pybind11.h>

namespace hdtrace {

void bind_upkeep(pybind11::module_& module);

} // namespace hdtrace
