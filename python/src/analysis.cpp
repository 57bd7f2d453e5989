// Projects and what is computed from their traces. Everything is read in steps, between which Python may stop
// it.
#include <exception>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <utility>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "hdtrace/analysis/call_columns.h"
#include "hdtrace/analysis/call_text.h"
#include "hdtrace/analysis/checker.h"
#include "hdtrace/analysis/collective_columns.h"
#include "hdtrace/analysis/match_reader.h"
#include "hdtrace/analysis/message_columns.h"
#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/analysis/statistics.h"
#include "hdtrace/format/compressed.h"
#include "hdtrace/format/repair.h"
#include "hdtrace/format/validate.h"
#include "python/src/bindings.h"

namespace py = pybind11;

namespace hdtrace {
namespace {

using Path = std::filesystem::path;
using ProjectPointer = std::shared_ptr<OpenedProject>;
constexpr auto inside = py::return_value_policy::reference_internal;

// A state with whose it is.
struct Call : State {
    std::int64_t rank = 0;
    std::int64_t thread = 0;
};

class CallReader {
  public:
    CallReader(ProjectPointer project, Selection selection)
        : m_project(std::move(project)), m_states(m_project->traces, std::move(selection))
    {
    }

    // The next calls; none at the end. An error is reported by the call after the one with the last good
    // state.
    std::vector<Call> read(std::size_t states)
    {
        const py::gil_scoped_release release;
        std::vector<Call> calls;
        for_each(states, calls, [&](State& state) {
            calls.push_back({std::move(state), m_states.trace().rank, m_states.trace().thread});
        });
        return calls;
    }

    py::str read_xml(std::size_t states)
    {
        return read_text(states, [&](const State& state) { return xml_line(m_states.trace(), state); });
    }

    py::str read_lines(std::size_t states, std::int64_t origin)
    {
        return read_text(states,
                         [&](const State& state) { return text_lines(m_states.trace(), state, origin); });
    }

    const std::vector<std::string>& missing() const { return m_states.missing(); }

  private:
    template <class Result, class Take> void for_each(std::size_t states, const Result& result, Take take)
    {
        if (const auto problem = std::exchange(m_problem, nullptr))
            std::rethrow_exception(problem);
        try {
            for (State* state = nullptr; states > 0 && (state = m_states.next()); --states)
                take(*state);
        } catch (const ReadError&) {
            if (result.empty())
                throw;
            m_problem = std::current_exception();
        }
    }

    template <class ToText> py::str read_text(std::size_t states, ToText to_text)
    {
        std::string text;
        {
            const py::gil_scoped_release release;
            for_each(states, text, [&](const State& state) { text += to_text(state); });
        }
        return py::str(text);
    }

    ProjectPointer m_project;
    MergedTraces m_states;
    std::exception_ptr m_problem; ///< is thrown next
};

// Messages and operations with the label of their communicator, if the project has it.
template <class Found> struct Labelled : Found {
    std::optional<std::string> label;
};

template <class Found, class Reader>
std::vector<Labelled<Found>> read_labelled(Reader& reader, std::size_t calls)
{
    const py::gil_scoped_release release;
    std::vector<Labelled<Found>> result;
    for (Found& found : reader.read(calls)) {
        std::optional<std::string> label;
        if (found.communicator)
            label = reader.project().label_of(*found.communicator);
        result.push_back({std::move(found), std::move(label)});
    }
    return result;
}

// The vector moves into the array's owner.
template <class Number> py::array to_array(std::vector<Number>&& values)
{
    auto owner = std::make_unique<std::vector<Number>>(std::move(values));
    const auto size = static_cast<py::ssize_t>(owner->size());
    Number* const data = owner->data();
    const py::capsule capsule(owner.release(),
                              [](void* self) { delete static_cast<std::vector<Number>*>(self); });
    return py::array_t<Number>(size, data, capsule);
}

py::object to_flags(std::vector<std::uint8_t>&& values)
{
    return to_array(std::move(values)).attr("view")("bool");
}

template <class Number> py::object to_python(Numbers<Number>& column)
{
    return to_array(std::move(column.values));
}

py::object to_python(Numbers<std::uint8_t>& column)
{
    return to_flags(std::move(column.values));
}

py::object to_python(OptionalNumbers& column)
{
    const py::object masked = py::module_::import("numpy.ma").attr("MaskedArray");
    return masked(to_array(std::move(column.values)), to_flags(std::move(column.missing)));
}

// A pair: the package decides what to make of it.
py::object to_python(Texts& column)
{
    return py::make_tuple(to_array(std::move(column.codes)), file_texts(column.categories));
}

template <class Columns> py::dict to_dict(Columns columns)
{
    py::dict dict;
    columns.for_each([&](const std::string& name, auto& column) { dict[py::str(name)] = to_python(column); });
    return dict;
}

CallClass class_named(const std::string& name)
{
    if (const auto found = find_class(name))
        return *found;
    throw py::value_error("there is no class of calls named " + name);
}

Selection make_selection(std::vector<std::int64_t> ranks, std::vector<std::int64_t> threads,
                         std::vector<std::string> names, const std::vector<std::string>& classes,
                         std::optional<std::int64_t> begin, std::optional<std::int64_t> end, bool unfinished)
{
    Selection selection;
    selection.ranks = std::move(ranks);
    selection.threads = std::move(threads);
    selection.calls = std::move(names);
    for (const std::string& name : classes)
        selection.classes.push_back(class_named(name));
    selection.interval.begin = begin.value_or(selection.interval.begin);
    selection.interval.end = end.value_or(selection.interval.end);
    selection.unfinished = unfinished;
    return selection;
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
        .def_readonly("ranks", &ProjectFile::ranks);

    py::class_<Communicator> communicator(module, "Communicator");
    py::class_<Communicator::Member>(communicator, "Member")
        .def_readonly("global_rank", &Communicator::Member::global)
        .def_readonly("local_rank", &Communicator::Member::local)
        .def_readonly("cid", &Communicator::Member::cid)
        .def_readonly("group", &Communicator::Member::group);
    communicator.def_readonly("name", &Communicator::name)
        .def_readonly("uid", &Communicator::uid)
        .def_readonly("members", &Communicator::members);

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
        .def_readonly("members", &Window::members);

    py::class_<Datatype>(module, "Datatype")
        .def_readonly("id", &Datatype::id)
        .def_readonly("combiner", &Datatype::combiner)
        .def_property_readonly("attributes",
                               [](const Datatype& type) {
                                   py::dict dict;
                                   for (const Attribute& attribute : type.attributes)
                                       dict[py::str(attribute.name)] = attribute.value;
                                   return dict;
                               })
        .def_readonly("rows", &Datatype::rows);
    py::class_<RankDatatypes>(module, "RankDatatypes")
        .def_readonly("rank", &RankDatatypes::rank)
        .def_readonly("thread", &RankDatatypes::thread)
        .def_readonly("types", &RankDatatypes::types);
}

template <class Name, std::size_t count> py::tuple names_of(std::string_view (*name_of)(Name))
{
    py::tuple names(count);
    for (std::size_t i = 0; i < count; ++i)
        names[i] = name_of(static_cast<Name>(i));
    return names;
}

Grouping grouping_named(const std::string& name)
{
    for (std::size_t i = 0; i < grouping_count; ++i)
        if (grouping_name(static_cast<Grouping>(i)) == name)
            return static_cast<Grouping>(i);
    throw py::value_error("calls cannot be grouped by " + name);
}

py::list find_problems(const Path& path)
{
    std::vector<std::string> problems;
    {
        const py::gil_scoped_release release;
        problems = validate(path.string());
    }
    return file_texts(problems);
}

// Closes a trace that was cut off. Answers its file, which may be a compressed one, and what it lacked; empty
// if it is whole.
py::tuple repair(const Path& path)
{
    const std::string file = detail::existing_name(path.string());
    std::string missing;
    {
        const py::gil_scoped_release release;
        missing = repair_trace(file);
    }
    return py::make_tuple(file_text(file), missing);
}

template <class Table> py::class_<Table> bind_table(py::module_& module, const char* name)
{
    return py::class_<Table>(module, name)
        .def("read", &Table::read, py::arg("calls"), py::call_guard<py::gil_scoped_release>())
        .def("take", [](Table& table) { return to_dict(table.take()); })
        .def_property_readonly("missing", [](const Table& table) { return file_texts(table.missing()); });
}

template <class Reader, class Read> void bind_reader(py::module_& module, const char* name, Read read)
{
    py::class_<Reader>(module, name)
        .def(py::init([](ProjectPointer project) { return std::make_unique<Reader>(std::move(project)); }),
             py::arg("project"))
        .def("read", read, py::arg("calls"))
        .def_property_readonly("at_end", &Reader::at_end)
        .def_property_readonly("missing", [](const Reader& reader) { return file_texts(reader.missing()); });
}

// Objects of a project live as long as it does.
template <class Object, class Find> auto of_call(Find find)
{
    return [find](const OpenedProject& project, const Call& call,
                  const std::string& attribute) -> const Object* {
        return (project.objects.*find)(call.rank, call, attribute);
    };
}

void bind_project(py::module_& module)
{
    bind_objects(module);
    py::class_<TraceFile>(module, "Thread")
        .def_property_readonly("path", [](const TraceFile& trace) { return file_text(trace.path); })
        .def_readonly("rank", &TraceFile::rank)
        .def_readonly("thread", &TraceFile::thread)
        .def_readonly("labels", &TraceFile::labels)
        .def("__repr__", [](const TraceFile& trace) {
            return "<Thread " + std::to_string(trace.thread) + " of rank " + std::to_string(trace.rank) + ">";
        });

    using FindCommunicator =
        const Communicator* (ObjectTable::*)(std::int64_t, const Element&, std::string_view) const;
    using FindFile =
        const ProjectFile* (ObjectTable::*)(std::int64_t, const Element&, std::string_view) const;
    using FindType = const Datatype* (ObjectTable::*)(std::int64_t, const Element&, std::string_view) const;
    using FindWindow = const Window* (ObjectTable::*)(std::int64_t, const Element&, std::string_view) const;
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
        .def_property_readonly("datatypes", field(&Project::datatypes))
        .def_property_readonly(
            "trace_paths",
            [](const OpenedProject& project) { return file_texts(project.project.trace_paths()); })
        .def_readonly("threads", &OpenedProject::traces)
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
        "read_project",
        [](const Path& path) {
            const py::gil_scoped_release release;
            return std::make_shared<OpenedProject>(path.string());
        },
        py::arg("path"));
}

void bind_calls(py::module_& module)
{
    py::class_<Selection>(module, "Selection")
        .def(py::init(&make_selection), py::arg("ranks"), py::arg("threads"), py::arg("names"),
             py::arg("classes"), py::arg("begin"), py::arg("end"), py::arg("unfinished"));
    py::class_<Call, State>(module, "Call")
        .def_readonly("rank", &Call::rank)
        .def_readonly("thread", &Call::thread)
        .def_property_readonly("call_class", [](const Call& call) { return class_name(class_of(call.name)); })
        .def_property_readonly("is_unfinished", [](const Call& call) { return call.is_unfinished(); })
        .def(
            "integer", [](const Call& call, const std::string& name) { return call.integer(name); },
            py::arg("name"))
        .def("__repr__", [](const Call& call) {
            return "<" + call.name + " of rank " + std::to_string(call.rank) + ", thread " +
                   std::to_string(call.thread) + ">";
        });
    py::class_<CallReader>(module, "CallReader")
        .def(py::init<ProjectPointer, Selection>(), py::arg("project"), py::arg("selection"))
        .def("read", &CallReader::read, py::arg("states"))
        .def("read_xml", &CallReader::read_xml, py::arg("states"))
        .def("read_lines", &CallReader::read_lines, py::arg("states"), py::arg("origin"))
        .def_property_readonly("missing",
                               [](const CallReader& reader) { return file_texts(reader.missing()); });
    bind_table<CallTable>(module, "CallTable")
        .def(py::init<ProjectPointer, Selection>(), py::arg("project"), py::arg("selection"));
    constexpr std::size_t class_count = static_cast<std::size_t>(CallClass::other) + 1;
    module.attr("CALL_CLASSES") = names_of<CallClass, class_count>(class_name);
}

void bind_messages(py::module_& module)
{
    py::class_<MessageEnd>(module, "MessageEnd")
        .def_readonly("thread", &MessageEnd::thread)
        .def_readonly("start", &MessageEnd::time)
        .def_readonly("end", &MessageEnd::end)
        .def_readonly("line", &MessageEnd::line)
        .def_readonly("bytes", &MessageEnd::size)
        .def_property_readonly("request", [](const MessageEnd& end) {
            return end.rid < 0 ? std::nullopt : std::optional(end.rid);
        });
    using FoundMessage = Labelled<Message>;
    py::class_<FoundMessage>(module, "Message")
        .def_readonly("source", &FoundMessage::source)
        .def_readonly("destination", &FoundMessage::destination)
        .def_readonly("tag", &FoundMessage::tag)
        .def_readonly("communicator", &FoundMessage::label)
        .def_readonly("send", &FoundMessage::send)
        .def_readonly("receive", &FoundMessage::receive)
        .def("__repr__", [](const FoundMessage& message) {
            return "<Message from rank " + std::to_string(message.source) + " to rank " +
                   std::to_string(message.destination) + ", tag " + std::to_string(message.tag) + ">";
        });
    bind_reader<MessageReader>(module, "MessageReader", &read_labelled<Message, MessageReader>);
    bind_table<MessageTable>(module, "MessageTable").def(py::init<ProjectPointer>(), py::arg("project"));
}

void bind_collectives(py::module_& module)
{
    py::class_<CollectiveCall>(module, "CollectiveCall")
        .def_readonly("rank", &CollectiveCall::rank)
        .def_readonly("thread", &CollectiveCall::thread)
        .def_readonly("name", &CollectiveCall::name)
        .def_readonly("start", &CollectiveCall::start)
        .def_readonly("end", &CollectiveCall::end)
        .def_readonly("root", &CollectiveCall::root)
        .def_readonly("bytes", &CollectiveCall::bytes)
        .def_readonly("line", &CollectiveCall::line);
    using FoundCollective = Labelled<Collective>;
    py::class_<FoundCollective>(module, "Collective")
        .def_readonly("communicator", &FoundCollective::label)
        .def_readonly("number", &FoundCollective::number)
        .def_readonly("calls", &FoundCollective::calls)
        .def_property_readonly(
            "name", [](const FoundCollective& collective) { return collective.calls.front().name; })
        .def("__repr__", [](const FoundCollective& collective) {
            return "<" + collective.calls.front().name + " on " + collective.label.value_or("?") + ">";
        });
    bind_reader<CollectiveReader>(module, "CollectiveReader", &read_labelled<Collective, CollectiveReader>);
    bind_table<CollectiveTable>(module, "CollectiveTable")
        .def(py::init<ProjectPointer>(), py::arg("project"));
}

void bind_statistics(py::module_& module)
{
    py::class_<Totals>(module, "Totals")
        .def_readonly("calls", &Totals::calls)
        .def_readonly("time", &Totals::time)
        .def_readonly("longest", &Totals::longest)
        .def_readonly("bytes", &Totals::bytes);
    py::class_<Statistics>(module, "Statistics")
        .def(py::init<ProjectPointer, Selection>(), py::arg("project"), py::arg("selection"))
        .def("read", &Statistics::read, py::arg("states"), py::call_guard<py::gil_scoped_release>())
        .def(
            "groups",
            [](const Statistics& statistics, const std::string& by) {
                py::list groups;
                for (const auto& [label, totals] : statistics.groups(grouping_named(by)))
                    groups.append(py::make_tuple(file_text(label), totals));
                return groups;
            },
            py::arg("by"))
        .def_property_readonly("totals", &Statistics::totals)
        .def_property_readonly("begin", &Statistics::begin)
        .def_property_readonly("end", &Statistics::end)
        .def_property_readonly("missing", [](const Statistics& self) { return file_texts(self.missing()); });
    module.attr("GROUPINGS") = names_of<Grouping, grouping_count>(grouping_name);
}

void bind_checks(py::module_& module)
{
    py::class_<Finding>(module, "Finding")
        .def_readonly("kind", &Finding::kind)
        .def_property_readonly("file", [](const Finding& finding) { return file_text(finding.file); })
        .def_readonly("line", &Finding::line)
        .def_property_readonly("text", [](const Finding& finding) { return file_text(finding.text); })
        .def_property_readonly("because", [](const Finding& finding) { return file_text(finding.because); });
    py::class_<Checker>(module, "Checker")
        .def(py::init<ProjectPointer>(), py::arg("project"))
        .def("read", &Checker::read, py::arg("calls"), py::call_guard<py::gil_scoped_release>())
        .def_property_readonly("at_end", &Checker::at_end);
    module.def("find_problems", &find_problems, py::arg("path"));
    module.def("repair", &repair, py::arg("path"));
}

} // namespace

void bind_analysis(py::module_& module)
{
    bind_project(module);
    bind_calls(module);
    bind_messages(module);
    bind_collectives(module);
    bind_statistics(module);
    bind_checks(module);
}

} // namespace hdtrace
