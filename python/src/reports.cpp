// What reports show.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "hdtrace/matching/type_map.h"
#include "hdtrace/report/packed.h"
#include "hdtrace/report/timeline.h"
#include "python/src/bindings.h"
#include "python/src/conversions.h"
#include "python/src/shared_types.h"
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

py::list file_accesses_of(const TimelineReader& reader)
{
    py::list files;
    for (const auto& [number, file] : reader.file_accesses().files()) {
        py::dict one;
        one["file"] = file_text(reader.project().file_labels[number]);
        one["accesses"] = file.seen;
        one["kept"] = file.accesses.size();
        one["unplaced"] = file.unplaced;
        one["is_cut"] = file.is_cut;
        one["bytes"] = py::bytes(report::compressed(file.packed().bytes()));
        files.append(one);
    }
    return files;
}

// Rank, whether it is written, when in nanoseconds after the beginning of the run, and from where to where.
py::list pieces_of(const report::FileAccesses::OfFile& file)
{
    py::list pieces;
    for (const auto& access : file.accesses)
        for (const auto& piece : access.pieces)
            pieces.append(py::make_tuple(access.rank, access.is_write, access.begin, access.end, piece.begin,
                                         piece.end));
    return pieces;
}

// The bytes of a datatype in the order of its data, the first ones; nothing if it is not described.
std::optional<std::vector<std::pair<std::int64_t, std::int64_t>>>
type_pieces(const ProjectPointer& project, std::int64_t rank, std::int64_t tid, std::size_t most)
{
    constexpr std::size_t most_visited = 1'000'000; // that touch each other
    std::vector<std::pair<std::int64_t, std::int64_t>> pieces;
    std::size_t visited = 0;
    try {
        TypeMaps types(project->objects);
        const MappedType* const type = types.find(rank, tid);
        if (!type)
            return std::nullopt;
        if (type->map->size() > 0)
            type->map->visit_pieces(0, 0, [&](std::int64_t begin, std::int64_t end) {
                if (++visited <= most_visited && !pieces.empty() && pieces.back().second == begin)
                    pieces.back().second = end;
                else if (pieces.size() == most || visited > most_visited)
                    return false;
                else
                    pieces.emplace_back(begin, end);
                return true;
            });
    } catch (const DatatypeError&) {
        return std::nullopt;
    }
    return pieces;
}

} // namespace

void bind_reports(py::module_& module)
{
    py::tuple wait_kinds(wait_kind_count);
    for (std::size_t i = 0; i < wait_kind_count; ++i)
        wait_kinds[i] = facts_of(static_cast<WaitKind>(i)).name;
    module.attr("WAIT_KINDS") = wait_kinds;
    py::class_<Lane>(module, "Lane")
        .def_readonly("rank", &Lane::rank)
        .def_readonly("thread", &Lane::thread)
        .def_property_readonly("host", [](const Lane& lane) { return file_text(lane.host); })
        .def_readonly("call_count", &Lane::call_count)
        .def_readonly("message_count", &Lane::message_count)
        .def_readonly("group", &Lane::group);
    py::class_<TimelineReader, std::unique_ptr<TimelineReader, UnlockedDelete>>(module, "TimelineReader")
        .def("read", &TimelineReader::read, py::arg("states"), py::call_guard<Unlocked>())
        .def_property_readonly("duration", &TimelineReader::duration)
        .def_property_readonly("parts", &TimelineReader::parts)
        .def_property_readonly("lanes", &TimelineReader::lanes, py::return_value_policy::reference_internal)
        .def(
            "group",
            [](const TimelineReader& reader, std::size_t number) {
                return py::bytes(reader.groups().at(number));
            },
            py::arg("number"))
        .def("shares", [](const TimelineReader& reader) { return py::bytes(reader.shares()); })
        .def("path", [](const TimelineReader& reader) { return py::bytes(reader.path()); })
        .def("gatherings", &gatherings_of)
        .def("phrases", &phrases_of)
        .def("file_accesses", &file_accesses_of)
        .def(
            "file_pieces",
            [](const TimelineReader& reader, std::size_t number) {
                const auto& files = reader.file_accesses().files();
                return number < files.size()
                           ? pieces_of(std::next(files.begin(), static_cast<std::ptrdiff_t>(number))->second)
                           : py::list();
            },
            py::arg("number"))
        .def("names", [](const TimelineReader& reader) { return file_texts(reader.names()); });
    module.def("type_pieces", &type_pieces, py::arg("project"), py::arg("rank"), py::arg("tid"),
               py::arg("most"));
}

} // namespace hdtrace
