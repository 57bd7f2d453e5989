// Files of projects: moved, copied, removed.
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "hdtrace/format/packed_file.h"
#include "merger/upkeep/indexing.h"
#include "merger/upkeep/project_files.h"
#include "merger/upkeep/splitting.h"
#include "merger/upkeep/trace_form.h"
#include "merger/upkeep/transfer.h"
#include "python/src/conversions.h"
#include "python/src/shared_types.h"
#include "python/src/unlocked.h"
#include "python/src/upkeep.h"

namespace py = pybind11;

namespace hdtrace {
namespace {

using Path = std::filesystem::path;
using merger::ProjectFiles;

/// For work that does not hold Python's lock. What it throws ends the work.
merger::ByteProgress progress_to(const py::function& add)
{
    return [&add](std::int64_t bytes) {
        const py::gil_scoped_acquire acquire;
        add(bytes);
    };
}

template <class Transfer> auto transfer_by(Transfer transfer)
{
    return [transfer](const OpenedProject& project, const ProjectFiles& files, const Path& source,
                      const Path& destination, const py::function& progress) {
        const merger::ByteProgress add = progress_to(progress);
        const Unlocked unlocked;
        transfer(project.project, files, merger::destination_of(source.string(), destination.string()), add);
    };
}

Compression form_called(const std::string& name)
{
    if (name.empty())
        return Compression::none;
    if (name == "zstd")
        return Compression::zstd;
    if (name == "gzip")
        return Compression::gzip;
    throw py::value_error("'" + name + "' is no form of traces");
}

py::tuple change_form_of(const TraceFile& trace, const std::string& form, const py::function& progress)
{
    const Compression wanted = form_called(form);
    const merger::ByteProgress add = progress_to(progress);
    merger::FormSizes sizes;
    {
        const Unlocked unlocked;
        sizes = merger::change_form(trace.path, wanted, add);
    }
    return py::make_tuple(sizes.before, sizes.after);
}

std::vector<std::string> paths_of(const ProjectFiles& files)
{
    std::vector<std::string> paths;
    for (const merger::NamedFile& file : files.files)
        paths.push_back(file.path());
    return paths;
}

/// Name, size and when it was changed, in nanoseconds since the epoch.
std::vector<py::tuple> files_in(const Path& folder)
{
    std::vector<py::tuple> files;
    for (const std::string& name : detail::names_in_directory(folder.string())) {
        const std::string path = (folder / name).string();
        if (!detail::is_file(path)) // it was removed meanwhile
            continue;
        const detail::FileTime file = detail::file_time(path);
        files.push_back(py::make_tuple(file_text(name), file.size, file.modified));
    }
    return files;
}

std::vector<py::tuple> living_files(const Path& node_file, const std::string& ending)
{
    std::vector<py::tuple> living;
    for (const detail::LivingFile& file : detail::living_files(node_file.string(), ending))
        living.push_back(py::make_tuple(file_text(Path(file.path).filename().string()), file.process));
    return living;
}

std::size_t split_node_file(const Path& path, const py::function& progress)
{
    const merger::ByteProgress add = progress_to(progress);
    const Unlocked unlocked;
    return merger::split_node_file(path.string(), add);
}

} // namespace

void bind_upkeep(py::module_& module)
{
    py::class_<ProjectFiles>(module, "ProjectFiles")
        .def(py::init([](const OpenedProject& project) { return merger::files_of(project.project); }),
             py::arg("project"), py::call_guard<Unlocked>())
        .def_property_readonly("paths", [](const ProjectFiles& files) { return file_texts(paths_of(files)); })
        .def_property_readonly("shared",
                               [](const ProjectFiles& files) {
                                   py::dict shared;
                                   for (const auto& [file, project] : files.shared)
                                       shared[file_text(file)] = file_text(project);
                                   return shared;
                               })
        .def_property_readonly("elsewhere",
                               [](const ProjectFiles& files) { return file_texts(files.elsewhere()); });
    py::class_<merger::Indexing>(module, "Indexing")
        .def(py::init<ProjectPointer, std::int64_t>(), py::arg("project"), py::arg("states"),
             py::call_guard<Unlocked>())
        .def("read", &merger::Indexing::read, py::arg("states"), py::call_guard<Unlocked>())
        .def_property_readonly("made", &merger::Indexing::made)
        .def_property_readonly("size", &merger::Indexing::size)
        .def_property_readonly("refused",
                               [](const merger::Indexing& self) { return file_texts(self.refused()); });
    module.def(
        "indexes_of", [](const OpenedProject& project) { return file_texts(merger::indexes_of(project)); },
        py::arg("project"));
    const auto define_transfer = [&](const char* name, auto transfer) {
        module.def(name, transfer_by(transfer), py::arg("project"), py::arg("files"), py::arg("source"),
                   py::arg("destination"), py::arg("progress"));
    };
    define_transfer("move_project", &merger::move_project);
    define_transfer("copy_project", &merger::copy_project);
    module.def("change_form", &change_form_of, py::arg("thread"), py::arg("form"), py::arg("progress"));
    module.def("files_in", &files_in, py::arg("folder"));
    module.def(
        "is_in_node_file",
        [](const Path& trace) { return detail::is_in_node_file(detail::existing_name(trace.string())); },
        py::arg("trace"), py::call_guard<Unlocked>());
    module.def("living_files", &living_files, py::arg("node_file"), py::arg("ending"));
    module.def(
        "refuse_cut_off", [](const OpenedProject& project) { merger::refuse_cut_off(project.traces); },
        py::arg("project"), py::call_guard<Unlocked>());
    module.def("split_node_file", &split_node_file, py::arg("path"), py::arg("progress"));
    module.def("remove_files", &merger::remove_files, py::arg("files"), py::call_guard<Unlocked>());
}

} // namespace hdtrace
