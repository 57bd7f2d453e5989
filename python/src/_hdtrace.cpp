// _hdtrace - the C++ readers for Python. Glue only: what is more than a conversion is in the package hdtrace.
#include <cerrno>

#include <pybind11/pybind11.h>

#include "hdtrace/format/errors.h"
#include "hdtrace/tools/file_error.h"
#include "python/src/bindings.h"

namespace py = pybind11;

namespace hdtrace {

py::object file_text(const std::string& text)
{
    return py::reinterpret_steal<py::object>(PyUnicode_DecodeFSDefaultAndSize(text.data(), text.size()));
}

py::list file_texts(const std::vector<std::string>& texts)
{
    py::list list;
    for (const std::string& text : texts)
        list.append(file_text(text));
    return list;
}

py::list missing_texts(const std::vector<MissingEnd>& ends)
{
    py::list texts;
    for (const MissingEnd& end : ends)
        texts.append(file_text(to_string(end)));
    return texts;
}

py::dict to_dict(const std::vector<Attribute>& attributes)
{
    py::dict dict;
    for (const Attribute& attribute : attributes)
        dict[py::str(attribute.name)] = attribute.value;
    return dict;
}

namespace {

void raise_read_error(const py::object& type, const ReadError& error)
{
    py::object instance = type(file_text(error.what()));
    instance.attr("file") = file_text(error.file());
    instance.attr("line") = error.line();
    instance.attr("column") = error.column();
    PyErr_SetObject(type.ptr(), instance.ptr());
}

template <class Error> void raise_os_error(const Error& error)
{
    errno = error.code().value();
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, error.file().c_str());
}

void bind_errors(py::module_& module)
{
    static py::exception<ReadError> read_error(module, "ReadError", PyExc_ValueError);
    read_error.attr("__module__") = "hdtrace";
    read_error.attr("file") = "";
    read_error.attr("line") = 0;
    read_error.attr("column") = 0;
    read_error.attr("problems") = py::tuple();
    py::register_exception_translator([](std::exception_ptr pointer) {
        try {
            std::rethrow_exception(pointer);
        } catch (const ReadError& error) {
            raise_read_error(read_error, error);
        } catch (const OpenError& error) {
            raise_os_error(error);
        } catch (const tools::FileError& error) {
            raise_os_error(error);
        }
    });
}

} // namespace
} // namespace hdtrace

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
