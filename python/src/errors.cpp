// What is thrown.
#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include <pybind11/pybind11.h>

#include "hdtrace/format/errors.h"
#include "hdtrace/tools/file_error.h"
#include "python/src/bindings.h"
#include "python/src/conversions.h"

namespace py = pybind11;

namespace hdtrace {
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

/// As pybind11 does, but the message may have names of files in it, which need not be UTF-8.
void raise(PyObject* type, const std::exception& error)
{
    PyErr_SetObject(type, file_text(error.what()).ptr());
}

} // namespace

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
        } catch (const std::filesystem::filesystem_error& error) {
            raise_os_error(OpenError(error.path1().string(), error.code().value()));
        } catch (const std::system_error&) {
            throw;
        } catch (const py::builtin_exception&) {
            throw;
        } catch (const std::invalid_argument& error) {
            raise(PyExc_ValueError, error);
        } catch (const std::runtime_error& error) {
            raise(PyExc_RuntimeError, error);
        }
    });
}

} // namespace hdtrace
