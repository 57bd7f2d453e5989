// What a project tells of the run itself.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "hdtrace/format/nanoseconds.h"
#include "hdtrace/format/oversubscription.h"
#include "hdtrace/format/run.h"
#include "python/src/bindings.h"
#include "python/src/conversions.h"

namespace py = pybind11;

namespace hdtrace {

void bind_run(py::module_& module)
{
    py::class_<RunFact>(module, "RunFact")
        .def_property_readonly("kind", [](const RunFact& fact) { return fact.fact.name; })
        .def_property_readonly("values", [](const RunFact& fact) { return to_dict(fact.fact.attributes); })
        .def_property_readonly("ranks",
                               [](const RunFact& fact) {
                                   std::vector<std::pair<std::int64_t, std::int64_t>> ranks;
                                   for (const RunFact::Ranks& range : fact.ranks)
                                       ranks.emplace_back(range.first, range.last);
                                   return ranks;
                               })
        .def("__repr__", [](const RunFact& fact) { return "<RunFact " + fact.fact.name + ">"; });
    py::class_<CpuTime>(module, "CpuTime")
        .def_readonly("time", &CpuTime::time)
        .def_readonly("user", &CpuTime::user)
        .def_readonly("system", &CpuTime::system)
        .def_readonly("waited", &CpuTime::waited)
        .def("__repr__", [](const CpuTime& time) {
            return "<CpuTime " + seconds_text(time.user) + " s user, " + seconds_text(time.system) +
                   " s system>";
        });
    py::class_<FatalSignal>(module, "FatalSignal")
        .def_readonly("name", &FatalSignal::name)
        .def_readonly("time", &FatalSignal::time)
        .def_readonly("thread", &FatalSignal::thread)
        .def("__repr__", [](const FatalSignal& signal) { return "<FatalSignal " + signal.name + ">"; });
    py::class_<RunThread>(module, "RunThread")
        .def_readonly("number", &RunThread::number)
        .def_readonly("tid", &RunThread::tid)
        .def_readonly("begin", &RunThread::begin)
        .def_readonly("end", &RunThread::end)
        .def_readonly("name", &RunThread::name)
        .def("__repr__",
             [](const RunThread& thread) { return "<RunThread " + std::to_string(thread.number) + ">"; });
    py::class_<RunProcess>(module, "RunProcess")
        .def_readonly("rank", &RunProcess::rank)
        .def_readonly("pid", &RunProcess::pid)
        .def_readonly("cpu_times", &RunProcess::cpu_times)
        .def_readonly("signals", &RunProcess::signals)
        .def_readonly("threads", &RunProcess::threads)
        .def("__repr__", [](const RunProcess& process) {
            return "<RunProcess of rank " + std::to_string(process.rank) + ">";
        });
    py::class_<OversubscribedHost>(module, "OversubscribedHost")
        .def_readonly("host", &OversubscribedHost::host)
        .def_readonly("processes", &OversubscribedHost::processes)
        .def_readonly("processors", &OversubscribedHost::processors)
        .def_readonly("running", &OversubscribedHost::running)
        .def_readonly("waiting", &OversubscribedHost::waiting)
        .def("__str__", &OversubscribedHost::text)
        .def("__repr__",
             [](const OversubscribedHost& host) { return "<OversubscribedHost " + host.text() + ">"; });
}

} // namespace hdtrace
