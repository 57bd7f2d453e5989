// Single files: the states of a trace, the lines of an .info.
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "hdtrace/format/file.h"
#include "hdtrace/format/info.h"
#include "hdtrace/format/trc_reader.h"
#include "python/src/bindings.h"
#include "python/src/conversions.h"
#include "python/src/unlocked.h"

namespace py = pybind11;

namespace hdtrace {
namespace {

using Path = std::filesystem::path;

py::str value_of(const Element& element, const std::string& name)
{
    const auto value = element.find(name);
    if (!value)
        throw py::key_error(name);
    return py::str(*value);
}

py::object value_or(const Element& element, const std::string& name, const py::object& otherwise)
{
    const auto value = element.find(name);
    return value ? py::str(*value) : otherwise;
}

std::string element_text(const Element& element)
{
    std::string text = "<" + element.name;
    for (const Attribute& attribute : element.attributes)
        text.append(" ")
            .append(attribute.name)
            .append("=")
            .append(std::string(py::repr(py::str(attribute.value))));
    return text + ">";
}

std::string state_text(const State& state)
{
    return element_text(state) + " in line " + std::to_string(state.line);
}

void bind_elements(py::module_& module)
{
    py::class_<Element>(module, "Element")
        .def_readonly("name", &Element::name)
        .def_property_readonly("attributes",
                               [](const Element& element) { return to_dict(element.attributes); })
        .def("__getitem__", &value_of)
        .def("__contains__",
             [](const Element& element, const std::string& name) { return element.has(name); })
        .def("get", &value_or, py::arg("name"), py::arg("default") = py::none())
        .def("__eq__", [](const Element& left, const Element& right) { return left == right; })
        .def("__repr__", &element_text);
    py::class_<State, Element>(module, "State")
        .def_readonly("time", &State::time)
        .def_readonly("end", &State::end)
        .def_readonly("children", &State::children)
        .def_readonly("nested", &State::nested)
        .def_readonly("line", &State::line)
        .def_readonly("is_event", &State::is_event)
        .def("__eq__", [](const State& left, const State& right) { return left == right; })
        .def("__repr__", &state_text);
}

// The next states; none at the end. An error is reported by the call after the one with the last good state.
std::vector<State> read_chunk(TrcReader& reader, std::size_t size)
{
    const Unlocked unlocked;
    std::vector<State> states;
    State state;
    try {
        while (states.size() < size && reader.next(state))
            states.push_back(std::move(state));
    } catch (const ReadError&) {
        if (states.empty())
            throw;
    }
    return states;
}

void bind_trc_reader(py::module_& module)
{
    py::class_<TrcReader>(module, "TrcReader")
        .def(py::init([](const Path& path) { return TrcReader(path.string()); }), py::arg("path"),
             py::call_guard<Unlocked>())
        .def_property_readonly("attributes",
                               [](const TrcReader& reader) { return to_dict(reader.attributes()); })
        .def_property_readonly("time_adjustment", &TrcReader::time_adjustment)
        .def_property_readonly("rank", &TrcReader::rank)
        .def_property_readonly("thread", &TrcReader::thread)
        .def_property_readonly("complete", &TrcReader::complete)
        .def_property_readonly("missing", &TrcReader::missing)
        .def("read_chunk", &read_chunk, py::arg("size"));
}

// Values may be any bytes.
py::object bytes_text(const std::string& text)
{
    return py::reinterpret_steal<py::object>(
        PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "surrogateescape"));
}

// Lines of a kind that we do not know may look as they like.
py::dict values_of(const InfoLine& line)
{
    static const std::set<std::string_view> known_kinds = {
        "Process",  "Thread", "File",   "Comm", "CommName", "Win",     "WinName", "Type",
        "TypeName", "Object", "Source", "Site", "Region",   "Counter", "Group",   "End"};
    py::dict values;
    try {
        for (const InfoLine::Field& field : line.fields()) {
            const py::object key = bytes_text(field.key);
            if (!values.contains(key))
                values[key] = bytes_text(field.value);
        }
    } catch (const ReadError&) {
        if (known_kinds.contains(line.kind()))
            throw;
        values.clear();
    }
    return values;
}

py::tuple read_info(const Path& path)
{
    std::optional<InfoReader> reader; // outlives its lines
    std::vector<InfoLine> lines;
    {
        const Unlocked unlocked;
        reader.emplace(path.string());
        while (reader->next(lines.emplace_back())) {
        }
        lines.pop_back();
    }
    py::list result;
    for (const InfoLine& line : lines)
        result.append(py::make_tuple(bytes_text(std::string(line.kind())), values_of(line), line.number()));
    return py::make_tuple(result, reader->truncated_line());
}

// The first bytes of a trace's text, and those at its end, where it may be written just now; and whether
// there are others between them.
py::tuple ends_of_trace(const Path& path, std::size_t most)
{
    constexpr std::size_t beginning_size = 4096;
    std::string beginning(beginning_size, '\0'), end(most, '\0');
    bool has_more = false;
    {
        const Unlocked unlocked;
        detail::File file(path.string());
        beginning.resize(file.read(beginning.data(), beginning.size()));
        const std::int64_t size = file.size();
        has_more = size > static_cast<std::int64_t>(most);
        file.seek(has_more ? size - static_cast<std::int64_t>(most) : 0);
        end.resize(file.read(end.data(), end.size()));
    }
    return py::make_tuple(py::bytes(beginning), py::bytes(end), has_more);
}

} // namespace

void bind_traces(py::module_& module)
{
    bind_elements(module);
    bind_trc_reader(module);
    module.def("read_info", &read_info, py::arg("path"));
    module.def("ends_of_trace", &ends_of_trace, py::arg("path"), py::arg("most"));
}

} // namespace hdtrace
