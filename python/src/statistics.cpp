// Sums over calls.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "hdtrace/analysis/message_matrix.h"
#include "hdtrace/analysis/statistics.h"
#include "python/src/bindings.h"
#include "python/src/conversions.h"
#include "python/src/shared_types.h"
#include "python/src/unlocked.h"

namespace py = pybind11;

namespace hdtrace {
namespace {

Grouping grouping_named(const std::string& name)
{
    for (std::size_t i = 0; i < grouping_count; ++i)
        if (grouping_name(static_cast<Grouping>(i)) == name)
            return static_cast<Grouping>(i);
    throw py::value_error("calls cannot be grouped by " + name);
}

Groupings groupings_named(const std::vector<std::string>& names)
{
    Groupings groupings;
    for (const std::string& name : names)
        groupings.push_back(grouping_named(name));
    return groupings;
}

// No call guard: what Python makes of a unique_ptr needs its lock.
std::unique_ptr<Statistics> statistics_of(ProjectPointer project, Selection selection,
                                          const std::vector<std::vector<std::string>>& tables, bool counters)
{
    const Unlocked unlocked;
    std::vector<Groupings> groupings;
    for (const std::vector<std::string>& names : tables)
        groupings.push_back(groupings_named(names));
    return std::make_unique<Statistics>(std::move(project), std::move(selection), std::move(groupings), 0,
                                        counters);
}

py::list groups_of(const Statistics& statistics, const std::vector<std::string>& by)
{
    py::list groups;
    for (const auto& [labels, totals] : statistics.groups(groupings_named(by))) {
        py::list texts;
        for (const std::string& label : labels)
            texts.append(file_text(label));
        groups.append(py::make_tuple(py::tuple(texts), totals));
    }
    return groups;
}

// An integer where it is one.
py::object to_python(const CounterValue& value)
{
    return value.integer ? py::object(py::int_(*value.integer)) : py::object(py::float_(value.number));
}

// With the project that its definition belongs to.
struct OwnedCounter : CounterSum {
    std::shared_ptr<const OpenedProject> project;
};

std::vector<OwnedCounter> counters_of(const Statistics& statistics)
{
    std::vector<OwnedCounter> counters;
    for (CounterSum& sum : statistics.counters())
        counters.push_back({std::move(sum), statistics.project()});
    return counters;
}

void bind_counters(py::module_& module)
{
    const auto value = [](CounterValue CounterSum::*member) {
        return [member](const OwnedCounter& sum) { return to_python(sum.*member); };
    };
    py::class_<OwnedCounter>(module, "CounterSum")
        .def_property_readonly("name", [](const OwnedCounter& sum) { return file_text(sum.name); })
        .def_property_readonly("definition",
                               [](const OwnedCounter& sum) {
                                   return sum.definition ? to_dict(sum.definition->attributes) : py::dict();
                               })
        .def_readonly("rank", &CounterSum::rank)
        .def_readonly("thread", &CounterSum::thread)
        .def_readonly("count", &CounterSum::count)
        .def_property_readonly("first", value(&CounterSum::first))
        .def_property_readonly("last", value(&CounterSum::last))
        .def_property_readonly("minimum", value(&CounterSum::minimum))
        .def_property_readonly("mean", &CounterSum::mean)
        .def_property_readonly("maximum", value(&CounterSum::maximum))
        .def_property_readonly("sum", [](const OwnedCounter& sum) {
            return sum.has_sum() ? to_python(sum.sum) : py::object(py::none());
        });
}

void bind_matrix(py::module_& module)
{
    py::class_<MessageMatrix>(module, "MessageMatrix")
        .def(py::init<ProjectPointer, Selection>(), py::arg("project"), py::arg("selection"),
             py::call_guard<Unlocked>())
        .def("read", &MessageMatrix::read, py::arg("states"), py::call_guard<Unlocked>())
        .def("cells",
             [](const MessageMatrix& matrix) {
                 py::list cells;
                 for (const auto& [pair, cell] : matrix.cells().by_pair())
                     cells.append(py::make_tuple(pair.first, pair.second, cell.messages, cell.bytes));
                 return cells;
             })
        .def("cells_by_communicator",
             [](const MessageMatrix& matrix) {
                 py::list cells;
                 for (const auto& [channel, cell] : matrix.cells().by_channel())
                     cells.append(py::make_tuple(channel.pair.first, channel.pair.second,
                                                 channel.communicator, cell.messages, cell.bytes));
                 return cells;
             })
        .def_property_readonly("not_apart", &MessageMatrix::not_apart)
        .def_property_readonly("missing",
                               [](const MessageMatrix& self) { return missing_texts(self.missing()); });
}

} // namespace

void bind_statistics(py::module_& module)
{
    bind_counters(module);
    bind_matrix(module);
    py::class_<Totals>(module, "Totals")
        .def(py::init<>())
        .def_readonly("calls", &Totals::calls)
        .def_readonly("time", &Totals::time)
        .def_readonly("exclusive", &Totals::exclusive)
        .def_readonly("shortest", &Totals::shortest)
        .def_readonly("longest", &Totals::longest)
        .def_readonly("bytes", &Totals::bytes)
        .def_readonly("entered", &Totals::entered)
        .def_readonly("inside", &Totals::inside)
        .def_property_readonly("sent", [](const Totals& totals) { return totals.volume.sent; })
        .def_property_readonly("received", [](const Totals& totals) { return totals.volume.received; })
        .def_property_readonly("posted", [](const Totals& totals) { return totals.volume.posted; })
        .def("__repr__",
             [](const Totals& totals) { return "<Totals of " + std::to_string(totals.calls) + " calls>"; });
    py::class_<Statistics>(module, "Statistics")
        .def(py::init(&statistics_of), py::arg("project"), py::arg("selection"), py::arg("tables"),
             py::arg("counters") = true)
        .def("read", &Statistics::read, py::arg("states"), py::call_guard<Unlocked>())
        .def("groups", &groups_of, py::arg("by"))
        .def_property_readonly("counters", &counters_of)
        .def_property_readonly("totals", &Statistics::totals)
        .def_property_readonly("unfinished", &Statistics::unfinished)
        .def_property_readonly("begun_before", &Statistics::begun_before)
        .def_property_readonly("not_apart", &Statistics::not_apart)
        .def_property_readonly("indexed", &Statistics::indexed)
        .def_property_readonly("unused_indexes",
                               [](const Statistics& self) { return file_texts(self.unused_indexes()); })
        .def_property_readonly("begin", &Statistics::begin)
        .def_property_readonly("end", &Statistics::end)
        .def_property_readonly("missing",
                               [](const Statistics& self) { return missing_texts(self.missing()); });
    module.attr("GROUPINGS") = names_of<Grouping, grouping_count>(grouping_name);
}

} // namespace hdtrace
