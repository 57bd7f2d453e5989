// _hdtrace - the C++ readers for Python. Glue only: what is more than a conversion is in the package hdtrace.
#include <pybind11/pybind11.h>

#include "hdtrace/tools/printable.h"
#include "python/src/bindings.h"
#include "python/src/conversions.h"
#include "python/src/upkeep.h"

namespace py = pybind11;

namespace hdtrace {
namespace {

// pybind11 calls this for a `self` that __new__ made and nothing initialised, to get memory for it.
void* refuse_uninitialised(std::size_t)
{
    throw py::type_error("this object was not initialised");
}

// For all classes that a module or class contains.
void protect_classes(const py::object& owner)
{
    for (const auto& [name, value] : py::dict(owner.attr("__dict__"))) {
        if (!PyType_Check(value.ptr()))
            continue;
        if (auto* type = py::detail::get_type_info(reinterpret_cast<PyTypeObject*>(value.ptr()))) {
            type->operator_new = refuse_uninitialised;
            protect_classes(py::reinterpret_borrow<py::object>(value));
        }
    }
}

void bind_printable(py::module_& module)
{
    module.def(
        "printable", [](const py::str& text) { return py::str(tools::printable(file_bytes(text))); },
        py::arg("text"));
    module.def(
        "printable_lines",
        [](const py::str& text) { return py::str(tools::printable_lines(file_bytes(text))); },
        py::arg("text"));
}

} // namespace
} // namespace hdtrace

PYBIND11_MODULE(_hdtrace, module)
{
    using namespace hdtrace;
    bind_errors(module);
    bind_traces(module);
    bind_run(module);
    bind_project(module);
    bind_calls(module);
    bind_matches(module);
    bind_statistics(module);
    bind_checks(module);
    bind_reports(module); // before what hands them out
    bind_explanations(module);
    bind_upkeep(module);
    bind_writer(module);
    bind_printable(module);
    protect_classes(module);
}
