#include "merger/export/piosimhd/contents.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "hdtrace/format/compressed.h"
#include "merger/export/format.h"

namespace hdtrace::exporter::piosimhd {

namespace {

const char* const unknown_host = "unknown";

} // namespace

Contents::Contents(const Project& project)
    : m_project(project),
      m_base(findable_name(project.name.empty() ? std::filesystem::path(project.path).stem().string()
                                                : project.name))
{
    if (!project.worlds.empty())
        throw ConvertError("the original tools know one MPI_COMM_WORLD only, but here are " +
                           std::to_string(project.worlds.size()) + ": merge each world by itself");
    add_leaves();
    name_files();
}

void Contents::add_leaves()
{
    std::set<std::int64_t> found;
    for (TraceFile& trace : traces_of(m_project)) {
        if (trace.rank < 0 || trace.labels.size() != 3)
            throw ConvertError("the original tools know programs with the levels Hostname, Rank and Thread "
                               "only, which this one does not have");
        found.insert(trace.rank);
        m_leaves.push_back({trace, detail::is_there_in_some_form(trace.path), m_hosts.of(trace.labels[0])});
    }
    for (std::int64_t rank = 0; rank < m_project.process_count; ++rank) {
        if (found.contains(rank))
            continue;
        TraceFile nothing;
        nothing.rank = rank;
        nothing.labels = {unknown_host, std::to_string(rank), "0"};
        m_leaves.push_back({nothing, false, m_hosts.of(unknown_host)});
    }
    std::ranges::stable_sort(m_leaves, {}, [](const Leaf& leaf) { return leaf.trace.rank; });
    if (m_leaves.empty())
        throw ConvertError("there is no process");
}

void Contents::name_files()
{
    std::set<std::string> taken;
    for (const ProjectFile& file : m_project.files) {
        std::string name = file.name;
        for (int number = 2; !taken.insert(name).second; ++number) // local files of several hosts
            name = file.name + " " + std::to_string(number);
        m_files[&file] = name;
    }
}

std::vector<TraceFile> Contents::existing_traces() const
{
    std::vector<TraceFile> traces;
    for (const Leaf& leaf : m_leaves) {
        if (leaf.exists)
            traces.push_back(leaf.trace);
    }
    return traces;
}

std::string Contents::file_name(const Leaf& leaf) const
{
    return m_base + "_" + leaf.host + "_" + std::to_string(leaf.trace.rank) + "_" +
           std::to_string(leaf.trace.thread) + ".trc";
}

const std::string& Contents::name_of(const ProjectFile& file) const
{
    return m_files.at(&file);
}

std::int64_t Contents::missing_traces() const
{
    return std::ranges::count_if(m_leaves, [](const Leaf& leaf) { return !leaf.exists; });
}

} // namespace hdtrace::exporter::piosimhd
