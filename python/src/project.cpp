// Projects and their objects.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/analysis/in_flight_reader.h"
#include "hdtrace/analysis/trace_part.h"
#include "hdtrace/explaining/host_orders.h"
#include "hdtrace/format/compressed.h"
#include "hdtrace/format/left_out.h"
#include "hdtrace/format/oversubscription.h"
#include "hdtrace/format/packed_file.h"
#include "hdtrace/format/project_ranks.h"
#include "hdtrace/format/reading_server.h"
#include "hdtrace/tools/permissions.h"
#include "merger/open_project.h"
#include "python/src/bindings.h"
#include "python/src/conversions.h"
#include "python/src/shared_types.h"
#include "python/src/unlocked.h"

namespace py = pybind11;

namespace hdtrace {
namespace {

using Path = std::filesystem::path;
constexpr auto inside = py::return_value_policy::reference_internal;

/// Has an object of Python that talks to the other process (hdtrace.sharing.Reader).
class PythonReader : public RemoteReader {
  public:
    explicit PythonReader(py::object reader) : m_reader(std::move(reader)) {}
    ~PythonReader() override
    {
        const py::gil_scoped_acquire acquire;
        m_reader = py::object();
    }

    void ask(std::uint32_t stream, std::string_view question) override
    {
        const py::gil_scoped_acquire acquire;
        m_reader.attr("ask")(stream, py::bytes(question.data(), question.size()));
    }
    std::string answer(std::uint32_t stream) override
    {
        const py::gil_scoped_acquire acquire;
        return py::bytes(m_reader.attr("answer")(stream));
    }

  private:
    py::object m_reader;
};

using Readers = std::vector<std::shared_ptr<RemoteReader>>;

Readers readers_in(const py::list& objects)
{
    Readers readers;
    for (const py::handle object : objects)
        readers.push_back(std::make_shared<PythonReader>(py::reinterpret_borrow<py::object>(object)));
    return readers;
}

py::bytes answer(ReadingServer& server, std::uint32_t stream, const py::bytes& question)
{
    std::string answer;
    {
        const std::string_view asked = question;
        const Unlocked unlocked;
        answer = server.answer(stream, asked);
    }
    return answer;
}

// What the project itself tells of ends is said once, of all processes.
class OpeningReport : public merger::Report {
  public:
    using Report::Report;

    void warn(merger::Topic topic, const merger::Place& place, const std::string& text) override
    {
        if (topic != merger::Topic::sudden_ends)
            Report::warn(topic, place, text);
    }
};

ProjectPointer open(const std::vector<Path>& paths, Readers readers, std::vector<std::string>& warnings)
{
    const Unlocked unlocked;
    OpeningReport report([&](const merger::Diagnostic& message) {
        warnings.push_back(message.place + (message.place.empty() ? "" : ": ") + message.text);
    });
    std::vector<std::string> texts;
    std::ranges::transform(paths, std::back_inserter(texts), [](const Path& path) { return path.string(); });
    Project merged = merger::open_project(texts, report);
    merged.readers = std::move(readers);
    auto project = std::make_shared<OpenedProject>(std::move(merged));
    report.finish();
    if (const std::string text = LeftOut(project->project).text(); !text.empty())
        warnings.push_back(project->project.path + ": " + text);
    return project;
}

py::tuple project_text(const std::vector<Path>& paths)
{
    merger::ProjectText project;
    {
        const Unlocked unlocked;
        std::vector<std::string> texts;
        std::ranges::transform(paths, std::back_inserter(texts),
                               [](const Path& path) { return path.string(); });
        merger::Report report([](const merger::Diagnostic&) {}); // opening the project has told
        project = merger::project_text(texts, report);
    }
    return py::make_tuple(file_text(project.path), py::bytes(project.text));
}

std::string write_part_of(const OpenedProject& project, const TraceFile& trace, const Selection& selection,
                          const InFlightReader& in_flight, const Path& path)
{
    const Unlocked unlocked;
    return write_part(project.project, trace, selection, in_flight.in_flight().lines_of(trace),
                      path.string());
}

void bind_objects(py::module_& module)
{
    py::class_<ProjectFile> file(module, "ProjectFile");
    py::class_<ProjectFile::Rank>(file, "Rank")
        .def_readonly("global_rank", &ProjectFile::Rank::global)
        .def_readonly("thread", &ProjectFile::Rank::thread)
        .def_readonly("fid", &ProjectFile::Rank::fid);
    file.def_readonly("name", &ProjectFile::name)
        .def_readonly("initial_size", &ProjectFile::initial_size)
        .def_readonly("from_rank", &ProjectFile::from)
        .def_readonly("distribution_class", &ProjectFile::distribution_class)
        .def_readonly("chunk_size", &ProjectFile::chunk_size)
        .def_readonly("ranks", &ProjectFile::ranks)
        .def("__repr__",
             [](const ProjectFile& self) { return file_text("<ProjectFile " + self.name + ">"); });

    py::class_<Communicator> communicator(module, "Communicator");
    py::class_<Communicator::Member>(communicator, "Member")
        .def_readonly("global_rank", &Communicator::Member::global)
        .def_readonly("local_rank", &Communicator::Member::local)
        .def_readonly("cid", &Communicator::Member::cid)
        .def_readonly("group", &Communicator::Member::group);
    communicator.def_readonly("name", &Communicator::name)
        .def_readonly("uid", &Communicator::uid)
        .def_readonly("members", &Communicator::members)
        .def_property_readonly("size", &Communicator::size)
        .def_property_readonly("is_traced", &Communicator::is_traced)
        .def("__repr__", [](const Communicator& self) {
            return file_text("<Communicator " + self.name + " of " + std::to_string(self.size()) + ">");
        });

    py::class_<Window> window(module, "Window");
    py::class_<Window::Member>(window, "Member")
        .def_readonly("global_rank", &Window::Member::global)
        .def_readonly("local_rank", &Window::Member::local)
        .def_readonly("wid", &Window::Member::wid)
        .def_readonly("size", &Window::Member::size)
        .def_readonly("disp_unit", &Window::Member::disp_unit);
    window.def_readonly("name", &Window::name)
        .def_readonly("uid", &Window::uid)
        .def_readonly("communicator", &Window::communicator)
        .def_readonly("members", &Window::members)
        .def("__repr__", [](const Window& self) {
            return file_text("<Window " + self.name + " of " + std::to_string(self.members.size()) + ">");
        });

    py::class_<World>(module, "World")
        .def_readonly("uid", &World::uid)
        .def_readonly("first_rank", &World::first)
        .def_readonly("size", &World::size)
        .def("__repr__", [](const World& self) {
            return "<World " + self.uid + " of " + std::to_string(self.size) + ">";
        });

    py::class_<Datatype>(module, "Datatype")
        .def_readonly("id", &Datatype::id)
        .def_readonly("combiner", &Datatype::combiner)
        .def_property_readonly("attributes", [](const Datatype& type) { return to_dict(type.attributes); })
        .def_readonly("rows", &Datatype::rows)
        .def("__repr__", [](const Datatype& self) {
            const std::string name(self.attributes.value("name").value_or(""));
            return file_text("<Datatype " + std::to_string(self.id) + " " +
                             (name.empty() ? self.combiner : name) + ">");
        });
    py::class_<RankDatatypes>(module, "RankDatatypes")
        .def_readonly("rank", &RankDatatypes::rank)
        .def_readonly("thread", &RankDatatypes::thread)
        .def_readonly("types", &RankDatatypes::types);
}

// A function of a place, with where that is.
struct Frame {
    std::shared_ptr<const CodePlace> place;
    SourceFunction function;
    bool is_inlined = false;
};

std::vector<Frame> frames_of(const CallSite& site)
{
    std::vector<Frame> frames;
    for (const auto& place : site.places) {
        for (const SourceFunction& function : place->functions)
            frames.push_back({place, function, &function != &place->functions.back()});
        if (place->functions.empty())
            frames.push_back({place, {}, false});
    }
    return frames;
}

std::string frame_text(const Frame& frame)
{
    const auto place = std::make_shared<CodePlace>(*frame.place);
    if (!place->functions.empty())
        place->functions = {frame.function};
    return to_string(CallSite{{place}});
}

// None instead of an empty text.
py::object known_text(const std::string& text)
{
    return text.empty() ? py::none() : file_text(text);
}

void bind_call_sites(py::module_& module)
{
    py::class_<Frame>(module, "Frame")
        .def_property_readonly("function", [](const Frame& frame) { return known_text(frame.function.name); })
        .def_property_readonly("file", [](const Frame& frame) { return known_text(frame.function.file); })
        .def_property_readonly("line", [](const Frame& frame) { return frame.function.line; })
        .def_readonly("is_inlined", &Frame::is_inlined)
        .def_property_readonly("object",
                               [](const Frame& frame) {
                                   const auto& object = frame.place->object;
                                   return object ? file_text(object->path) : py::none();
                               })
        .def_property_readonly("offset", [](const Frame& frame) { return frame.place->offset; })
        .def("__str__", [](const Frame& frame) { return file_text(frame_text(frame)); })
        .def("__repr__", [](const Frame& frame) { return file_text("<Frame " + frame_text(frame) + ">"); });

    const auto of_function = [](auto get) {
        return [get](const CallSite& site) {
            const SourceFunction* const function = site.function();
            return get(function ? *function : SourceFunction());
        };
    };
    py::class_<CallSite, std::shared_ptr<CallSite>>(module, "CallSite")
        .def_property_readonly(
            "function", of_function([](const SourceFunction& function) { return known_text(function.name); }))
        .def_property_readonly(
            "file", of_function([](const SourceFunction& function) { return known_text(function.file); }))
        .def_property_readonly("line",
                               of_function([](const SourceFunction& function) { return function.line; }))
        .def_property_readonly("frames", &frames_of)
        .def("__str__", [](const CallSite& site) { return file_text(to_string(site)); })
        .def("__repr__",
             [](const CallSite& site) { return file_text("<CallSite " + stack_text(site) + ">"); });
}

// Objects of a project live as long as it does.
template <class Object, class Find> auto of_call(Find find)
{
    return [find](const OpenedProject& project, const OwnedState& call,
                  const std::string& attribute) -> const Object* {
        return (project.objects.*find)(call.rank, call, attribute);
    };
}

} // namespace

py::list clock_rows(const OpenedProject& project)
{
    py::list rows;
    for (const std::string& host : hosts_of(project)) {
        const auto seconds = [](auto nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; };
        const auto& clocks = project.project.clocks;
        const auto found = std::ranges::find(clocks, host, &HostClock::host);
        HostClock clock = found == clocks.end() ? HostClock() : *found;
        if (clocks.empty() && rows.empty())
            clock.uncertainty = 0; // others differ from it
        py::list parts;
        for (std::size_t i = 0; i < clock.parts.size(); ++i) {
            const HostClock::Part& part = clock.parts[i];
            py::dict row;
            row["from"] = part.from;
            row["offset"] = seconds(part.offset);
            row["drift"] = part.drift;
            row["jump"] = seconds(clock.jump(i));
            parts.append(row);
        }
        py::dict row;
        row["host"] = file_text(host);
        row["offset"] = seconds(clock.parts.front().offset);
        row["drift"] = clock.parts.front().drift;
        row["uncertainty"] =
            clock.uncertainty ? py::object(py::float_(seconds(*clock.uncertainty))) : py::none();
        row["parts"] = parts;
        rows.append(row);
    }
    return rows;
}

void bind_project(py::module_& module)
{
    bind_objects(module);
    bind_call_sites(module);
    py::class_<TraceFile>(module, "Thread")
        .def_property_readonly("path", [](const TraceFile& trace) { return file_text(trace.path); })
        .def_readonly("rank", &TraceFile::rank)
        .def_readonly("thread", &TraceFile::thread)
        .def_readonly("labels", &TraceFile::labels)
        .def("__repr__", [](const TraceFile& trace) {
            return "<Thread " + std::to_string(trace.thread) + " of rank " + std::to_string(trace.rank) + ">";
        });

    using FindCommunicator =
        const Communicator* (ObjectTable::*)(std::int64_t, const Element&, const AttributeName&) const;
    using FindFile =
        const ProjectFile* (ObjectTable::*)(std::int64_t, const Element&, const AttributeName&) const;
    using FindType =
        const Datatype* (ObjectTable::*)(std::int64_t, const Element&, const AttributeName&) const;
    using FindWindow =
        const Window* (ObjectTable::*)(std::int64_t, const Element&, const AttributeName&) const;
    const auto field = [](auto member) {
        return [member](const OpenedProject& project) -> const auto&
        {
            return project.project.*member;
        };
    };
    py::class_<OpenedProject, ProjectPointer>(module, "Project")
        .def_property_readonly("name", field(&Project::name))
        .def_property_readonly("process_count", field(&Project::process_count))
        .def_property_readonly("description", field(&Project::description))
        .def_property_readonly("files", field(&Project::files))
        .def_property_readonly("levels", field(&Project::levels))
        .def_property_readonly("leaves", field(&Project::leaves))
        .def_property_readonly("communicators", field(&Project::communicators))
        .def_property_readonly("windows", field(&Project::windows))
        .def_property_readonly("worlds", field(&Project::worlds))
        .def_property_readonly("datatypes", field(&Project::datatypes))
        .def_property_readonly("clocks", &clock_rows)
        .def_property_readonly("call_sites",
                               [](const ProjectPointer& project) {
                                   std::vector<std::shared_ptr<CallSite>> sites;
                                   for (const CallSite& site : project->project.call_sites)
                                       sites.push_back(shared_site(project, &site));
                                   return sites;
                               })
        .def_property_readonly(
            "run_facts",
            [](const OpenedProject& project) -> const auto& { return project.project.run.facts; })
        .def_property_readonly(
            "run_processes",
            [](const OpenedProject& project) -> const auto& { return project.project.run.processes; })
        .def_property_readonly("latest_signal",
                               [](const OpenedProject& project) {
                                   const FatalSignal* const signal = latest_signal(project.project);
                                   return signal ? std::optional(*signal) : std::nullopt;
                               })
        .def_property_readonly(
            "oversubscribed_hosts",
            [](const OpenedProject& project) { return oversubscribed_hosts(project.project); })
        .def(
            "call_site",
            [](const ProjectPointer& project, std::int64_t rank, const State& state) {
                return shared_site(project, project->objects.call_site(rank, state));
            },
            py::arg("rank"), py::arg("state"))
        .def(
            "call_site",
            [](const ProjectPointer& project, std::int64_t rank, std::int64_t number) {
                return shared_site(project, project->objects.call_site(rank, number));
            },
            py::arg("rank"), py::arg("number"))
        .def(
            "object_label",
            [](const OpenedProject& project, std::int64_t rank, const std::string& attribute,
               std::int64_t number) { return file_text(object_label(project, rank, attribute, number)); },
            py::arg("rank"), py::arg("attribute"), py::arg("number"))
        .def(
            "ranks_in_project",
            [](const OpenedProject& project, std::int64_t rank, const std::string& ranks) {
                const Project& known = project.project;
                return known.worlds.empty() ? ranks : ProjectRanks(known, rank).translated(ranks);
            },
            py::arg("rank"), py::arg("ranks"))
        .def_property_readonly("path",
                               [](const OpenedProject& project) { return file_text(project.project.path); })
        .def_property_readonly(
            "trace_paths",
            [](const OpenedProject& project) { return file_texts(project.project.trace_paths()); })
        .def_readonly("threads", &OpenedProject::traces)
        .def_property_readonly("missing_traces", &OpenedProject::missing_traces)
        .def_property_readonly("summed_threads", &OpenedProject::traces_with_sums)
        .def_readonly("communicator_labels", &OpenedProject::communicator_labels)
        .def_property_readonly("file_labels",
                               [](const OpenedProject& project) { return file_texts(project.file_labels); })
        .def_readonly("window_labels", &OpenedProject::window_labels)
        .def("communicator_of", of_call<Communicator>(FindCommunicator(&ObjectTable::communicator)),
             py::arg("call"), py::arg("attribute") = "cid", inside)
        .def("file_of", of_call<ProjectFile>(FindFile(&ObjectTable::file)), py::arg("call"),
             py::arg("attribute") = "fid", inside)
        .def("datatype_of", of_call<Datatype>(FindType(&ObjectTable::datatype)), py::arg("call"),
             py::arg("attribute") = "tid", inside)
        .def("window_of", of_call<Window>(FindWindow(&ObjectTable::window)), py::arg("call"),
             py::arg("attribute") = "wid", inside);
    module.def(
        "restrict_umask",
        [](const OpenedProject& project, const Path& output) {
            tools::CommonPermissions permissions(output.string());
            permissions.add(detail::place_of(project.project.path).path);
            for (const TraceFile& trace : project.traces)
                permissions.add(detail::place_of(detail::existing_name(trace.path)).path);
            permissions.restrict_umask();
        },
        py::arg("project"), py::arg("output"));
    module.def("project_text", &project_text, py::arg("paths"));
    module.def("write_part", &write_part_of, py::arg("project"), py::arg("thread"), py::arg("selection"),
               py::arg("in_flight"), py::arg("path"));
    module.def(
        "read_project",
        [](const std::vector<Path>& paths, const py::list& readers) {
            std::vector<std::string> warnings;
            const auto project = open(paths, readers_in(readers), warnings);
            return std::pair(project, file_texts(warnings));
        },
        py::arg("paths"), py::arg("readers") = py::list());
    module.def(
        "runs_in",
        [](const Path& folder) {
            std::vector<std::vector<std::string>> runs;
            {
                const Unlocked unlocked;
                runs = merger::runs_in(folder.string());
            }
            py::list infos;
            for (const std::vector<std::string>& run : runs)
                infos.append(file_texts(run));
            return infos;
        },
        py::arg("folder"));
    py::class_<ReadingServer>(module, "ReadingServer")
        .def(py::init())
        .def("answer", &answer, py::arg("stream"), py::arg("question"));
}

} // namespace hdtrace
