// The trace library for programs in Python.
#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "hdtrace/include/hdTrace.h"
#include "python/src/bindings.h"

namespace py = pybind11;

namespace hdtrace {
namespace {

struct Destroy {
    void operator()(hdTopology* topology) const { hdT_destroyTopology(topology); }
    void operator()(hdTopoNode* node) const { hdT_destroyTopoNode(node); }
    void operator()(hdTrace* trace) const { hdT_finalize(trace); }
};
template <class Object> using Owner = std::unique_ptr<Object, Destroy>;

// What the caller did wrong is a ValueError, what the system did an OSError.
[[noreturn]] void raise_error(int number)
{
    constexpr std::array wrong_use = {
        static_cast<int>(HD_ERR_INVALID_ARGUMENT), static_cast<int>(HD_ERR_TOO_DEEP),
        static_cast<int>(HD_ERR_NO_STATE),         static_cast<int>(HD_ERR_STATE_OPEN),
        static_cast<int>(HD_ERR_NOT_XML),          EINVAL};
    for (const int known : wrong_use)
        if (number == known)
            throw py::value_error(hdT_strerror(number));
    PyErr_SetObject(PyExc_OSError, py::make_tuple(number, hdT_strerror(number)).ptr());
    throw py::error_already_set();
}

template <class Object> Owner<Object> checked(Object* object)
{
    if (!object)
        raise_error(errno);
    return Owner<Object>(object);
}

void check(int result)
{
    if (result < 0)
        raise_error(errno);
}

// For the library, which would take what is before a null character for all of it.
const char* pointer(const std::string& text)
{
    if (text.find('\0') != std::string::npos)
        throw py::value_error("embedded null character");
    return text.c_str();
}

std::vector<const char*> pointers(const std::vector<std::string>& texts)
{
    std::vector<const char*> pointers;
    for (const std::string& text : texts)
        pointers.push_back(pointer(text));
    return pointers;
}

class TraceWriter {
  public:
    TraceWriter(const std::string& program, const std::vector<std::string>& levels,
                const std::vector<std::string>& labels)
    {
        const auto topology = checked(
            hdT_createTopology(pointer(program), pointers(levels).data(), static_cast<int>(levels.size())));
        const auto node = checked(
            hdT_createTopoNode(topology.get(), pointers(labels).data(), static_cast<int>(labels.size())));
        m_name = hdT_getTopoPathString(node.get());
        m_trace = checked(hdT_createTrace(node.get()));
        check(hdT_enableTrace(m_trace.get()));
    }

    const std::string& name() const { return m_name; }
    bool enabled() const { return hdT_isEnabled(m_trace.get()) == 1; }
    void enable(bool on) { check(on ? hdT_enableTrace(m_trace.get()) : hdT_disableTrace(m_trace.get())); }
    void set_force_flush(bool on) { check(hdT_setForceFlush(m_trace.get(), on)); }
    void flush() { check(hdT_flush(m_trace.get())); }

    // After an error no state is open that would have to be ended.
    void start_state(const std::string& state)
    {
        if (hdT_logStateStart(m_trace.get(), pointer(state)) == 0)
            return;
        const int number = errno;
        if (number != HD_ERR_INVALID_ARGUMENT)
            hdT_logStateEnd(m_trace.get());
        raise_error(number);
    }
    void end_state() { check(hdT_logStateEnd(m_trace.get())); }
    void attribute(const std::string& key, const std::string& value)
    {
        check(hdT_logAttribute(m_trace.get(), pointer(key), pointer(value)));
    }
    void element(const std::string& element, const std::string& attributes)
    {
        check(hdT_logElement(m_trace.get(), pointer(element), "%s", pointer(attributes)));
    }
    void event(const std::string& event) { check(hdT_logEvent(m_trace.get(), pointer(event))); }
    void info(const std::string& line) { check(hdT_writeInfo(m_trace.get(), "%s", pointer(line))); }

    void close()
    {
        // What was refused was an exception then.
        if (m_trace && hdT_finalize(m_trace.release()) < 0 && errno != HD_ERR_REFUSED)
            raise_error(errno);
    }

  private:
    std::string m_name;
    Owner<hdTrace> m_trace;
};

} // namespace

void bind_writer(py::module_& module)
{
    py::class_<TraceWriter>(module, "TraceWriter")
        .def(py::init<const std::string&, const std::vector<std::string>&, const std::vector<std::string>&>(),
             py::arg("program"), py::arg("levels"), py::arg("labels"))
        .def_property_readonly("name", &TraceWriter::name)
        .def_property("enabled", &TraceWriter::enabled, &TraceWriter::enable)
        .def("set_force_flush", &TraceWriter::set_force_flush, py::arg("on"))
        .def("flush", &TraceWriter::flush)
        .def("start_state", &TraceWriter::start_state, py::arg("name"))
        .def("end_state", &TraceWriter::end_state)
        .def("attribute", &TraceWriter::attribute, py::arg("name"), py::arg("value"))
        .def("element", &TraceWriter::element, py::arg("name"), py::arg("attributes"))
        .def("event", &TraceWriter::event, py::arg("name"))
        .def("info", &TraceWriter::info, py::arg("line"))
        .def("close", &TraceWriter::close);
}

} // namespace hdtrace
