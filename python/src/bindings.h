// bindings.h - the parts of the module _hdtrace.
#pragma once

#include <pybind11/pybind11.h>

namespace hdtrace {

void bind_errors(pybind11::module_& module);
void bind_traces(pybind11::module_& module);
void bind_run(pybind11::module_& module);
void bind_project(pybind11::module_& module);
void bind_calls(pybind11::module_& module);
void bind_matches(pybind11::module_& module);
void bind_statistics(pybind11::module_& module);
void bind_checks(pybind11::module_& module);
void bind_explanations(pybind11::module_& module);
void bind_reports(pybind11::module_& module);
void bind_writer(pybind11::module_& module);

} // namespace hdtrace
