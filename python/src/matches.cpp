// Calls that belong together: messages and collective operations; and what is in flight at a moment.
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "hdtrace/analysis/call_text.h"
#include "hdtrace/analysis/collective_columns.h"
#include "hdtrace/analysis/in_flight_reader.h"
#include "hdtrace/analysis/match_reader.h"
#include "hdtrace/analysis/message_columns.h"
#include "hdtrace/analysis/request_columns.h"
#include "hdtrace/analysis/snapshots.h"
#include "python/src/bindings.h"
#include "python/src/conversions.h"
#include "python/src/shared_types.h"
#include "python/src/tables.h"
#include "python/src/unlocked.h"

namespace py = pybind11;

namespace hdtrace {
namespace {

// Messages and operations with their project, and the label of their communicator if the project has it.
template <class Found> struct Labelled : Found {
    std::optional<std::string> label;
    std::shared_ptr<const OpenedProject> project;
};

// An end of a message, or a call, with the project that its site belongs to.
template <class Part> struct Owned : Part {
    std::shared_ptr<const OpenedProject> project;
};

template <class Part> std::shared_ptr<CallSite> site_of(const Owned<Part>& part)
{
    return shared_site(part.project, part.site);
}

template <class Found>
std::vector<Labelled<Found>> labelled(std::vector<Found> all,
                                      const std::shared_ptr<const OpenedProject>& project)
{
    std::vector<Labelled<Found>> result;
    for (Found& found : all) {
        std::optional<std::string> label;
        if (found.communicator)
            label = project->label_of(*found.communicator);
        result.push_back({std::move(found), std::move(label), project});
    }
    return result;
}

template <class Found, class Reader>
std::vector<Labelled<Found>> read_labelled(Reader& reader, std::size_t calls)
{
    const Unlocked unlocked;
    return labelled(reader.read(calls), reader.shared_project());
}

template <class Reader, class Read> void bind_reader(py::module_& module, const char* name, Read read)
{
    py::class_<Reader>(module, name)
        .def(py::init<ProjectPointer>(), py::arg("project"), py::call_guard<Unlocked>())
        .def("read", read, py::arg("calls"))
        .def_property_readonly("at_end", &Reader::at_end)
        .def_property_readonly("missing",
                               [](const Reader& reader) { return missing_texts(reader.missing()); });
}

void bind_messages(py::module_& module)
{
    py::class_<Owned<MessageEnd>>(module, "MessageEnd")
        .def_readonly("thread", &MessageEnd::thread)
        .def_readonly("start", &MessageEnd::time)
        .def_property_readonly("end",
                               [](const Owned<MessageEnd>& end) {
                                   return end.end_is_known ? std::optional(end.end) : std::nullopt;
                               })
        .def_readonly("line", &MessageEnd::line)
        .def_readonly("bytes", &MessageEnd::size)
        .def_property_readonly(
            "request",
            [](const Owned<MessageEnd>& end) { return end.rid < 0 ? std::nullopt : std::optional(end.rid); })
        .def_property_readonly("site", &site_of<MessageEnd>)
        .def("__repr__", [](const Owned<MessageEnd>& end) {
            return "<MessageEnd: " + std::to_string(end.size) + " bytes, thread " +
                   std::to_string(end.thread) + ", line " + std::to_string(end.line) + ">";
        });
    using FoundMessage = Labelled<Message>;
    const auto end_of = [](std::optional<MessageEnd> Message::*member) {
        return [member](const FoundMessage& message) {
            const std::optional<MessageEnd>& end = message.*member;
            return end ? std::optional(Owned<MessageEnd>{*end, message.project}) : std::nullopt;
        };
    };
    py::class_<FoundMessage>(module, "Message")
        .def_readonly("source", &FoundMessage::source)
        .def_readonly("destination", &FoundMessage::destination)
        .def_readonly("tag", &FoundMessage::tag)
        .def_readonly("communicator", &FoundMessage::label)
        .def_property_readonly("send", end_of(&Message::send))
        .def_property_readonly("receive", end_of(&Message::receive))
        .def("__repr__", [](const FoundMessage& message) {
            return "<Message from rank " + std::to_string(message.source) + " to rank " +
                   std::to_string(message.destination) + ", tag " + std::to_string(message.tag) + ">";
        });
    bind_reader<MessageReader>(module, "MessageReader", &read_labelled<Message, MessageReader>);
    bind_table<MessageTable>(module, "MessageTable")
        .def(py::init<ProjectPointer>(), py::arg("project"), py::call_guard<Unlocked>());
}

void bind_collectives(py::module_& module)
{
    py::class_<Owned<CollectiveCall>>(module, "CollectiveCall")
        .def_readonly("rank", &CollectiveCall::rank)
        .def_readonly("thread", &CollectiveCall::thread)
        .def_readonly("name", &CollectiveCall::name)
        .def_readonly("start", &CollectiveCall::start)
        .def_readonly("end", &CollectiveCall::end)
        .def_readonly("root", &CollectiveCall::root)
        .def_readonly("bytes", &CollectiveCall::bytes)
        .def_readonly("line", &CollectiveCall::line)
        .def_readonly("has_failed", &CollectiveCall::has_failed)
        .def_property_readonly("site", &site_of<CollectiveCall>)
        .def("__repr__", [](const Owned<CollectiveCall>& call) {
            return "<" + call.name + " of rank " + std::to_string(call.rank) + ", thread " +
                   std::to_string(call.thread) + ">";
        });
    using FoundCollective = Labelled<Collective>;
    py::class_<FoundCollective>(module, "Collective")
        .def_readonly("communicator", &FoundCollective::label)
        .def_readonly("number", &FoundCollective::number)
        .def_property_readonly("calls",
                               [](const FoundCollective& collective) {
                                   std::vector<Owned<CollectiveCall>> calls;
                                   for (const CollectiveCall& call : collective.calls)
                                       calls.push_back({call, collective.project});
                                   return calls;
                               })
        .def_property_readonly(
            "name", [](const FoundCollective& collective) { return collective.calls.front().name; })
        .def_property_readonly("missing",
                               [](const FoundCollective& collective) {
                                   const std::set<std::int64_t> absent = absent_ranks(collective);
                                   return std::vector(absent.begin(), absent.end());
                               })
        .def("__repr__", [](const FoundCollective& collective) {
            return "<" + collective.calls.front().name + " on " + collective.label.value_or("?") + ">";
        });
    bind_reader<CollectiveReader>(module, "CollectiveReader", &read_labelled<Collective, CollectiveReader>);
    bind_table<CollectiveTable>(module, "CollectiveTable")
        .def(py::init<ProjectPointer>(), py::arg("project"), py::call_guard<Unlocked>());
}

std::unique_ptr<InFlightReader> read_until(const ProjectPointer& project, std::int64_t moment)
{
    const Unlocked unlocked;
    return std::make_unique<InFlightReader>(project, moment,
                                            last_snapshot(*project, moment).value_or(Snapshot()));
}

// All lines of what is there count then, so that all is read.
std::unique_ptr<InFlightReader> read_all_before(const ProjectPointer& project,
                                                std::optional<std::int64_t> moment)
{
    const Unlocked unlocked;
    const std::int64_t earliest = TimeInterval().begin;
    return std::make_unique<InFlightReader>(project, moment ? *moment - 1 : earliest, Snapshot());
}

OwnedState call_of(const InFlightReader& reader, const TraceFile& trace, State state, std::string region = {})
{
    return {std::move(state), trace.rank, trace.thread, reader.project(), std::move(region)};
}

// Of each thread: its rank and number, the call that it is in, since when it is there, the last call
// otherwise, the region, and the signal that ended the process.
py::list activities_of(const InFlightReader& reader, const Pending& pending)
{
    py::list activities;
    for (const Pending::Activity& activity : pending.activities) {
        const TraceFile& trace = *activity.trace;
        const bool is_inside = !activity.state.name.empty();
        const py::object call =
            is_inside ? py::cast(call_of(reader, trace, activity.state, activity.region)) : py::none();
        const std::string words = is_inside ? call_words(*reader.project(), trace.rank, activity.state) : "";
        activities.append(py::make_tuple(trace.rank, trace.thread, call, file_text(words),
                                         activity.state.time, activity.last, file_text(activity.region),
                                         activity.signal ? py::cast(*activity.signal) : py::none()));
    }
    return activities;
}

py::list requests_of(const InFlightReader& reader, const Pending& pending)
{
    py::list requests;
    for (const Pending::Request& request : pending.requests)
        requests.append(
            py::make_tuple(call_of(reader, *request.trace, request.state),
                           file_text(call_words(*reader.project(), request.trace->rank, request.state))));
    return requests;
}

py::tuple pending_of(InFlightReader& reader)
{
    Pending pending;
    {
        const Unlocked unlocked;
        pending = reader.in_flight().pending();
    }
    return py::make_tuple(activities_of(reader, pending), requests_of(reader, pending),
                          labelled(std::move(pending.messages), reader.project()),
                          labelled(std::move(pending.collectives), reader.project()),
                          std::vector(pending.without_calls.begin(), pending.without_calls.end()));
}

void bind_in_flight(py::module_& module)
{
    py::class_<InFlightReader>(module, "InFlight")
        .def("read", &InFlightReader::read, py::arg("states"), py::call_guard<Unlocked>())
        .def_static("until", &read_until, py::arg("project"), py::arg("moment"))
        .def_static("all_before", &read_all_before, py::arg("project"), py::arg("moment"))
        .def_property_readonly("moment", &InFlightReader::moment)
        .def_property_readonly("missing",
                               [](const InFlightReader& reader) { return missing_texts(reader.missing()); })
        .def("pending", &pending_of);
}

} // namespace

void bind_matches(py::module_& module)
{
    bind_in_flight(module);
    bind_messages(module);
    bind_collectives(module);
    bind_table<RequestRows>(module, "RequestTable")
        .def(py::init<ProjectPointer>(), py::arg("project"), py::call_guard<Unlocked>());
}

} // namespace hdtrace
