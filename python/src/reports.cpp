// What reports show.
#include <string>
#include <string_view>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "hdtrace/report/timeline.h"
#include "python/src/bindings.h"
#include "python/src/conversions.h"
#include "python/src/unlocked.h"

namespace py = pybind11;

namespace hdtrace {
namespace {

using report::Lane;
using report::TimelineReader;

py::list phrases_of(const TimelineReader& reader)
{
    py::list phrases;
    for (const report::Phrase& phrase : reader.phrases()) {
        py::list words;
        for (const report::Word& word : phrase.words)
            words.append(py::make_tuple(file_text(word.element), file_text(word.name),
                                        word.is_number ? py::object(py::none()) : file_text(word.value),
                                        file_text(word.meaning)));
        phrases.append(
            py::make_tuple(file_text(phrase.name), class_name(phrase.call_class), words, phrase.left_out));
    }
    return phrases;
}

py::tuple gatherings_of(const TimelineReader& reader)
{
    std::vector<std::string_view> names;
    const std::string bytes = reader.gatherings(names);
    return py::make_tuple(py::bytes(bytes), names);
}

} // namespace

void bind_reports(py::module_& module)
{
    py::tuple wait_kinds(wait_kind_count);
    for (std::size_t i = 0; i < wait_kind_count; ++i)
        wait_kinds[i] = facts_of(static_cast<WaitKind>(i)).name;
    module.attr("WAIT_KINDS") = wait_kinds;
    const auto bytes_of = [](std::string Lane::*member) {
        return [member](const Lane& lane) { return py::bytes(lane.*member); };
    };
    py::class_<Lane>(module, "Lane")
        .def_readonly("rank", &Lane::rank)
        .def_readonly("thread", &Lane::thread)
        .def_property_readonly("host", [](const Lane& lane) { return file_text(lane.host); })
        .def_readonly("call_count", &Lane::call_count)
        .def_readonly("message_count", &Lane::message_count)
        .def_property_readonly("calls", bytes_of(&Lane::calls))
        .def_property_readonly("messages", bytes_of(&Lane::messages))
        .def_property_readonly("waits", bytes_of(&Lane::waits))
        .def_property_readonly("regions", bytes_of(&Lane::regions));
    py::class_<TimelineReader>(module, "TimelineReader")
        .def("read", &TimelineReader::read, py::arg("states"), py::call_guard<Unlocked>())
        .def_property_readonly("duration", &TimelineReader::duration)
        .def_property_readonly("parts", &TimelineReader::parts)
        .def_property_readonly("lanes", &TimelineReader::lanes, py::return_value_policy::reference_internal)
        .def("shares", [](const TimelineReader& reader) { return py::bytes(reader.shares()); })
        .def("path", [](const TimelineReader& reader) { return py::bytes(reader.path()); })
        .def("gatherings", &gatherings_of)
        .def("phrases", &phrases_of)
        .def("names", [](const TimelineReader& reader) { return file_texts(reader.names()); });
}

} // namespace hdtrace
