// What is wrong with files, and what can be done about it.
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "hdtrace/checking/checker.h"
#include "hdtrace/format/compressed.h"
#include "hdtrace/format/repair.h"
#include "hdtrace/format/validate.h"
#include "python/src/bindings.h"
#include "python/src/conversions.h"
#include "python/src/shared_types.h"
#include "python/src/unlocked.h"

namespace py = pybind11;

namespace hdtrace {
namespace {

using Path = std::filesystem::path;

std::string_view kind_name(Problem::Kind kind)
{
    switch (kind) {
    case Problem::Kind::schema:
        return "schema";
    case Problem::Kind::syntax:
        return "syntax";
    case Problem::Kind::cut_off:
        return "cut-off";
    case Problem::Kind::no_schema:
        break;
    }
    return "no-schema";
}

std::vector<Problem> find_problems(const Path& path, bool only_root)
{
    const Unlocked unlocked;
    return validate(path.string(), only_root ? Validate::root : Validate::all);
}

// Closes a trace that was cut off. Answers its file, which may be a compressed one, and what it lacked; empty
// if it is whole.
py::tuple repair(const Path& path)
{
    const std::string file = detail::existing_name(path.string());
    std::string missing;
    {
        const Unlocked unlocked;
        missing = repair_trace(file);
    }
    return py::make_tuple(file_text(file), missing);
}

// With the project that its sites belong to.
struct OwnedFinding : Finding {
    std::shared_ptr<const OpenedProject> project;
};

std::vector<OwnedFinding> read_findings(Checker& checker, std::size_t calls)
{
    const Unlocked unlocked;
    std::vector<OwnedFinding> findings;
    for (Finding& finding : checker.read(calls))
        findings.push_back({std::move(finding), checker.project()});
    return findings;
}

py::list waiting_in(const OwnedFinding& finding)
{
    py::list processes;
    for (const WaitingProcess& process : finding.waiting) {
        py::dict one;
        one["rank"] = process.place.rank;
        one["call"] = file_text(process.call);
        one["site"] = shared_site(finding.project, process.place.site);
        one["file"] = file_text(finding.project->path_of(process.place.rank, process.place.thread));
        one["line"] = process.place.line;
        py::list operations;
        for (const StartedOperation& operation : process.operations) {
            py::dict started;
            started["call"] = file_text(operation.call);
            started["site"] = shared_site(finding.project, operation.site);
            operations.append(started);
        }
        one["operations"] = operations;
        one["awaits"] = std::vector(process.awaited.begin(), process.awaited.end());
        one["awaits_count"] = process.awaited_count;
        one["any"] = process.is_for_any;
        one["in_circle"] = process.is_in_circle;
        one["polls"] = process.polls;
        processes.append(one);
    }
    return processes;
}

void bind_problems(py::module_& module)
{
    py::class_<Problem>(module, "Problem")
        .def_property_readonly("kind", [](const Problem& problem) { return kind_name(problem.kind); })
        .def_property_readonly("file", [](const Problem& problem) { return file_text(problem.file); })
        .def_readonly("line", &Problem::line)
        .def_readonly("column", &Problem::column)
        .def_property_readonly("text", [](const Problem& problem) { return file_text(problem.text); })
        .def("__str__", [](const Problem& problem) { return file_text(to_string(problem)); })
        .def("__repr__",
             [](const Problem& problem) { return file_text("<Problem " + to_string(problem) + ">"); });
    module.def("find_problems", &find_problems, py::arg("path"), py::arg("only_root") = false);
    module.def("repair", &repair, py::arg("path"));
}

} // namespace

void bind_checks(py::module_& module)
{
    const auto site_of = [](const CallSite* Finding::*site) {
        return [site](const OwnedFinding& finding) { return shared_site(finding.project, finding.*site); };
    };
    py::class_<KindFacts>(module, "FindingKind")
        .def_readonly("name", &KindFacts::name)
        .def_readonly("title", &KindFacts::title)
        .def_readonly("means", &KindFacts::means)
        .def_readonly("what_to_do", &KindFacts::what_to_do)
        .def_property_readonly("needs_check",
                               [](const KindFacts& kind) { return kind.needs == Needs::check; })
        .def_property_readonly("severity", [](const KindFacts& kind) { return name_of(kind.severity); })
        .def("__repr__",
             [](const KindFacts& kind) { return "<FindingKind " + std::string(kind.name) + ">"; });
    module.def("finding_kinds", [] { return std::vector(all_kinds().begin(), all_kinds().end()); });
    py::class_<OwnedFinding>(module, "Finding")
        .def_property_readonly("kind",
                               [](const OwnedFinding& finding) { return facts_of(finding.kind).name; })
        .def_property_readonly("severity",
                               [](const OwnedFinding& finding) { return name_of(finding.severity); })
        .def_readonly("rank", &Finding::rank)
        .def_property_readonly("file", [](const OwnedFinding& finding) { return file_text(finding.file); })
        .def_readonly("line", &Finding::line)
        .def_property_readonly("text", [](const OwnedFinding& finding) { return file_text(finding.text); })
        .def_property_readonly("because",
                               [](const OwnedFinding& finding) { return file_text(finding.because); })
        .def_property_readonly("site", site_of(&Finding::site))
        .def_property_readonly("other_site", site_of(&Finding::other_site))
        .def_property_readonly("waiting", &waiting_in)
        .def("__repr__", [](const OwnedFinding& finding) {
            return file_text("<Finding " + std::string(facts_of(finding.kind).name) + ": " + finding.text +
                             ">");
        });
    py::class_<Checker, std::unique_ptr<Checker, UnlockedDelete>>(module, "Checker")
        .def(py::init<ProjectPointer>(), py::arg("project"), py::call_guard<Unlocked>())
        .def("read", &read_findings, py::arg("calls"))
        .def_property_readonly("at_end", &Checker::at_end)
        .def_property_readonly("calls", &Checker::calls)
        .def_property_readonly("goes_on", &Checker::goes_on)
        .def_property_readonly("incomplete",
                               [](const Checker& checker) {
                                   std::vector<std::string> kinds;
                                   for (const FindingKind kind : checker.incomplete())
                                       kinds.emplace_back(facts_of(kind).name);
                                   return kinds;
                               })
        .def_property_readonly("doubtful_traces",
                               [](const Checker& checker) { return file_texts(checker.doubtful_traces()); });
    bind_problems(module);
}

} // namespace hdtrace
