/* bindings.h - the parts of the module _hdtrace. */
#pragma once

#include <string>
#include <vector>

#include <pybind11/pybind11.h>

namespace hdtrace {

/** Text that may name files, whose names need not be UTF-8. */
pybind11::object file_text(const std::string& text);
pybind11::list file_texts(const std::vector<std::string>& texts);

void bind_analysis(pybind11::module_& module);
void bind_writer(pybind11::module_& module);

} // namespace hdtrace
