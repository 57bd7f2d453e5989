#include "merger/project_writer.h"

#include "hdtrace/format/nanoseconds.h"
#include "merger/label_tree.h"
#include "merger/run_writer.h"
#include "merger/trace_name.h"
#include "merger/xml_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <stdexcept>

namespace hdtrace::merger {

namespace fs = std::filesystem;

namespace {

constexpr int version = 1;

/// Of an indexed datatype. More are written as lists, of which each has so many entries at most that readers
/// of XML take it.
constexpr std::size_t most_single_blocks = 1000;
constexpr std::size_t most_listed_entries = 100'000;

/// Leads from the project to other directories. Asked again and again for the same ones.
class WayToDirectories {
  public:
    explicit WayToDirectories(const std::string& project) : m_begin(canonical_directory(project)) {}

    /// Empty if it is the project's own.
    const std::string& to(const std::string& directory)
    {
        if (!m_way || directory != m_directory) {
            const std::string way =
                fs::path(canonical_directory(directory)).lexically_relative(m_begin).string();
            m_way = way == "." ? "" : way;
            m_directory = directory;
        }
        return *m_way;
    }

  private:
    std::string m_begin;
    std::string m_directory;
    std::optional<std::string> m_way;
};

class ProjectWriter {
  public:
    ProjectWriter(const MergedProject& project, const ProjectOptions& options, int file)
        : m_project(project), m_options(options), m_ways(options.path), m_xml(file)
    {
    }

    void write()
    {
        m_xml.start("Application");
        m_xml.attribute("name", m_project.name);
        m_xml.attribute("processCount", m_project.process_count);
        m_xml.attribute("version", version);
        m_xml.element("Description", m_options.description);
        write_files();
        write_topology();
        write_worlds();
        write_communicators();
        write_windows();
        write_datatypes();
        write_call_sites();
        write_clocks();
        write_run(m_project.run, m_xml);
        m_xml.end();
        m_xml.finish();
    }

  private:
    void write_files()
    {
        m_xml.start("FileList");
        for (const MergedFile& file : m_project.files)
            write_file(file);
        m_xml.end();
    }

    void write_file(const MergedFile& file)
    {
        m_xml.start("File");
        m_xml.attribute("name", file.name);
        if (!file.host.empty())
            m_xml.attribute("host", file.host);
        if (file.initial_size >= 0) {
            m_xml.start("InitialSize");
            m_xml.attribute("from", file.size_from);
            m_xml.text(std::to_string(file.initial_size));
            m_xml.end();
        }
        write_distribution();
        for (const FileUse& use : file.uses) {
            m_xml.start("Rank");
            m_xml.attribute("global", use.rank);
            m_xml.attribute("thread", use.thread);
            m_xml.attribute("fid", use.id);
            m_xml.end();
        }
        m_xml.end();
    }

    /// In the forms of both generations of readers.
    void write_distribution()
    {
        m_xml.start("Distribution");
        m_xml.attribute("class", m_options.distribution_class);
        m_xml.attribute("implementation", m_options.distribution_class);
        m_xml.element("ChunkSize", m_options.chunk_size);
        m_xml.end();
        m_xml.element("ChunkSize", m_options.chunk_size);
    }

    /// In the forms of both generations of readers, too.
    void write_topology()
    {
        m_xml.start("Topology");
        for (const std::string& level : m_project.levels.names) {
            m_xml.start("Level");
            m_xml.attribute("name", level);
            m_xml.attribute("type", level);
        }
        for (std::size_t i = 0; i < m_project.levels.names.size(); ++i)
            m_xml.end();
        const LabelTree topology(m_project);
        write_nodes(topology.roots(), "Node", "name");
        write_nodes(topology.roots(), "Label", "value");
        m_xml.end();
    }

    void write_nodes(const std::vector<LabelTree::Node>& nodes, std::string_view element,
                     std::string_view attribute)
    {
        for (const LabelTree::Node& node : nodes) {
            m_xml.start(element);
            m_xml.attribute(attribute, node.label);
            write_nodes(node.children, element, attribute);
            m_xml.end();
        }
    }

    /// Whether the project's own name tells where all traces are.
    bool names_tell_files()
    {
        const std::string stem = fs::path(m_options.path).stem().string();
        return std::ranges::all_of(m_project.processes, [&](const MergedProcess& process) {
            return process.name.base == stem && m_ways.to(process.name.directory).empty();
        });
    }

    /// With one, ranks are what they are in the traces, and nothing is written but where these are.
    void write_worlds()
    {
        auto process = m_project.processes.begin();
        if (!m_project.has_worlds()) {
            if (!m_project.levels.has_ranks || names_tell_files())
                return;
            m_xml.start("WorldList");
            while (process != m_project.processes.end())
                write_files_of_processes(process, std::numeric_limits<std::int64_t>::max());
            m_xml.end();
            return;
        }
        m_xml.start("WorldList");
        for (const World& world : m_project.worlds) {
            m_xml.start("World");
            m_xml.attribute("uid", world.uid);
            m_xml.attribute("first", world.first);
            m_xml.attribute("size", world.size);
            while (process != m_project.processes.end() && process->rank < world.first + world.size)
                write_files_of_processes(process, world.first + world.size);
            m_xml.end();
        }
        for (auto ranks = m_project.foreign.begin(); ranks != m_project.foreign.end();)
            write_foreign(ranks);
        m_xml.end();
    }

    /// Of consecutive ones with a common beginning of their names, behind which it leaves @p process.
    void write_files_of_processes(std::vector<MergedProcess>::const_iterator& process, std::int64_t end)
    {
        const MergedProcess& first = *process;
        std::int64_t last = first.rank;
        for (; process != m_project.processes.end() && process->rank < end &&
               process->name.base == first.name.base && process->name.directory == first.name.directory;
             ++process)
            last = process->rank;
        m_xml.start("Files");
        if (const std::string& directory = m_ways.to(first.name.directory); !directory.empty())
            m_xml.attribute("directory", directory);
        m_xml.attribute("base", first.name.base);
        m_xml.attribute("first", first.rank);
        m_xml.attribute("last", last);
        m_xml.end();
    }

    /// Of consecutive processes that number them in the same way.
    void write_foreign(std::vector<ForeignRanks>::const_iterator& ranks)
    {
        const ForeignRanks& first = *ranks;
        std::int64_t last = first.rank;
        for (++ranks;
             ranks != m_project.foreign.end() && ranks->rank == last + 1 && ranks->runs == first.runs;
             ++ranks)
            ++last;
        m_xml.start("Foreign");
        m_xml.attribute("map", map_text(first.runs));
        m_xml.attribute("first", first.rank);
        m_xml.attribute("last", last);
        m_xml.end();
    }

    /// "1..3=4..6;"
    template <typename Run> static std::string map_text(const std::vector<Run>& runs)
    {
        const auto range = [](std::int64_t first, std::int64_t count) {
            return std::to_string(first) + (count > 1 ? ".." + std::to_string(first + count - 1) : "");
        };
        std::string map;
        for (const auto& [from, to, count] : runs)
            map += range(from, count) + "=" + range(to, count) + ";";
        return map;
    }

    void write_communicators()
    {
        m_xml.start("CommunicatorList");
        for (const MergedCommunicator& communicator : m_project.communicators)
            write_communicator(communicator);
        m_xml.end();
    }

    void write_communicator(const MergedCommunicator& communicator)
    {
        m_xml.start("Communicator");
        m_xml.attribute("name", communicator.name);
        if (!communicator.uid.empty())
            m_xml.attribute("uid", communicator.uid);
        if (communicator.untraced() > 0)
            m_xml.attribute("untraced", communicator.untraced());
        if (communicator.untraced_remote() > 0)
            m_xml.attribute("untracedRemote", communicator.untraced_remote());
        if (!communicator.is_inter)
            write_members(communicator, communicator.map, "");
        else {
            write_members(communicator, communicator.map, "0");
            write_members(communicator, communicator.remote, "1");
        }
        m_xml.end();
    }

    void write_members(const MergedCommunicator& communicator, const RankMap& map, std::string_view group)
    {
        auto known = communicator.ids.begin();
        map.for_each([&](std::int64_t rank, std::int64_t local) {
            while (known != communicator.ids.end() && known->first < rank)
                ++known;
            m_xml.start("Rank");
            m_xml.attribute("global", rank);
            m_xml.attribute("local", local);
            if (known != communicator.ids.end() && known->first == rank)
                m_xml.attribute("cid", known->second);
            if (!group.empty())
                m_xml.attribute("group", group);
            m_xml.end();
        });
    }

    /// Nothing where there are none: many programs have no windows.
    void write_windows()
    {
        if (m_project.windows.empty())
            return;
        m_xml.start("WindowList");
        for (const MergedWindow& window : m_project.windows)
            write_window(window);
        m_xml.end();
    }

    void write_window(const MergedWindow& window)
    {
        m_xml.start("Window");
        m_xml.attribute("name", window.name);
        if (!window.uid.empty())
            m_xml.attribute("uid", window.uid);
        if (!window.communicator.empty())
            m_xml.attribute("communicator", window.communicator);
        auto part = window.parts.begin();
        window.map.for_each([&](std::int64_t rank, std::int64_t local) {
            m_xml.start("Rank");
            m_xml.attribute("global", rank);
            m_xml.attribute("local", local);
            if (part != window.parts.end() && part->rank == rank) {
                m_xml.attribute("wid", part->id);
                m_xml.attribute("size", part->size);
                m_xml.attribute("dispUnit", part->displacement_unit);
                ++part;
            }
            m_xml.end();
        });
        m_xml.end();
    }

    void write_datatypes()
    {
        m_xml.start("Datatypes");
        for (const MergedProcess& process : m_project.processes) {
            m_xml.start("Rank");
            m_xml.attribute("name", process.rank);
            m_xml.attribute("thread", process.first_thread());
            for (const DescribedDatatype* datatype : process.datatypes)
                write_datatype(*datatype);
            m_xml.end();
        }
        m_xml.end();
    }

    void write_datatype(const DescribedDatatype& datatype)
    {
        m_xml.start(datatype.combiner);
        m_xml.attribute("id", datatype.id);
        m_xml.attribute("name", datatype.name);
        const Combiner* combiner = find_combiner(datatype.combiner);
        if (combiner && datatype.has_contents())
            write_contents(*combiner, datatype);
        else
            write_unknown_contents(datatype);
        m_xml.end();
    }

    void write_contents(const Combiner& combiner, const DescribedDatatype& datatype)
    {
        const std::size_t repeats = check_contents(combiner, datatype);
        for (const auto& [name, position] : combiner.attributes)
            m_xml.attribute(name, content(datatype, position, repeats, 0));
        write_measures(datatype, &combiner);
        if (combiner.is_indexed() && repeats > most_single_blocks)
            write_blocks(combiner, datatype, repeats);
        else
            write_children(combiner, datatype, repeats);
    }

    void write_blocks(const Combiner& combiner, const DescribedDatatype& datatype, std::size_t repeats)
    {
        for (std::size_t first = 0, end = 0; first < repeats; first = end) {
            end = repeats;
            for (const auto& [name, position] : combiner.child_attributes)
                end = std::min(end, content_end(datatype, position, repeats, first, most_listed_entries));
            m_xml.start("Blocks");
            for (const auto& [name, position] : combiner.child_attributes)
                m_xml.attribute(name, content_list(datatype, position, repeats, first, end - first));
            m_xml.end();
        }
    }

    void write_children(const Combiner& combiner, const DescribedDatatype& datatype, std::size_t repeats)
    {
        for (std::size_t k = 0; k < repeats; ++k) {
            m_xml.start(combiner.child);
            for (const auto& [name, position] : combiner.child_attributes)
                m_xml.attribute(name, content(datatype, position, repeats, k));
            m_xml.end();
        }
    }

    /// Attributes of the combiner with these names go first: DARRAY has a `size` of its own.
    void write_measures(const DescribedDatatype& datatype, const Combiner* combiner)
    {
        const auto write = [&](std::string_view name, const std::optional<std::int64_t>& value) {
            if (value && !(combiner && combiner->has_attribute(name)))
                m_xml.attribute(name, *value);
        };
        write("size", datatype.size);
        write("lb", datatype.lb);
        write("extent", datatype.extent);
    }

    /// Combiners of a later MPI standard, and types without contents: everything that is known, by kind.
    void write_unknown_contents(const DescribedDatatype& datatype)
    {
        write_measures(datatype, nullptr);
        write_values("Integer", datatype.integers.entries);
        write_values("Address", datatype.addresses.entries);
        for (const std::int64_t id : datatype.types) {
            m_xml.start("Type");
            m_xml.attribute("id", id);
            m_xml.end();
        }
    }

    void write_values(std::string_view element, const std::vector<std::string>& values)
    {
        for (const std::string& value : values) {
            m_xml.start(element);
            m_xml.attribute("value", value);
            m_xml.end();
        }
    }

    /// Nothing where no process described one.
    void write_call_sites()
    {
        const MergedCallSites& call_sites = m_project.call_sites;
        if (call_sites.sites.empty())
            return;
        m_xml.start("CallSiteList");
        for (std::size_t i = 0; i < call_sites.object_files.size(); ++i)
            write_object_file(i, call_sites.object_files[i]);
        for (std::size_t i = 0; i < call_sites.frames.size(); ++i)
            write_place(i, call_sites.frames[i], call_sites.places[i], call_sites.variables[i]);
        for (std::size_t i = 0; i < call_sites.sites.size(); ++i)
            write_call_site(i, call_sites.sites[i]);
        for (const SiteIds& ids : call_sites.ids)
            write_site_ids(ids);
        m_xml.end();
    }

    void write_object_file(std::size_t id, const MergedObjectFile& file)
    {
        m_xml.start("Object");
        m_xml.attribute("id", id);
        m_xml.attribute("path", file.path);
        if (!file.build_id.empty())
            m_xml.attribute("buildId", file.build_id);
        write_variables(file.variables);
        m_xml.end();
    }

    void write_contents(const Contents& contents)
    {
        if (!contents.of.empty())
            m_xml.attribute("of", contents.of);
        if (contents.each > 0)
            m_xml.attribute("each", contents.each);
        if (!contents.members.empty())
            m_xml.attribute("members", contents.members);
    }

    void write_variables(const SourceVariables& variables)
    {
        for (const SourceVariable& variable : variables) {
            m_xml.start("Variable");
            m_xml.attribute("name", variable.name);
            m_xml.attribute("at", variable.at);
            m_xml.attribute("size", variable.size);
            if (!variable.type.empty())
                m_xml.attribute("type", variable.type);
            write_contents(variable.contents);
            if (variable.is_pointer)
                m_xml.attribute("pointer", 1);
            m_xml.end();
        }
    }

    void write_place(std::size_t id, const SiteFrame& frame, const SourcePlaces& places,
                     const SourceVariables& variables)
    {
        m_xml.start("Place");
        m_xml.attribute("id", id);
        if (frame.is_in_object())
            m_xml.attribute("object", frame.object);
        if (frame.object != SiteFrame::source_line)
            m_xml.attribute("offset", frame.offset);
        for (const SourcePlace& place : places) {
            m_xml.start("Function");
            if (!place.function.empty())
                m_xml.attribute("name", place.function);
            if (!place.file.empty())
                m_xml.attribute("file", place.file);
            if (place.line > 0)
                m_xml.attribute("line", place.line);
            m_xml.end();
        }
        write_variables(variables);
        m_xml.end();
    }

    void write_call_site(std::size_t id, const std::vector<std::int64_t>& frames)
    {
        std::string places;
        for (const std::int64_t frame : frames)
            places += std::to_string(frame) + ";";
        m_xml.start("CallSite");
        m_xml.attribute("id", id);
        m_xml.attribute("places", places);
        m_xml.end();
    }

    void write_site_ids(const SiteIds& ids)
    {
        m_xml.start("Sites");
        m_xml.attribute("map", map_text(ids.runs));
        for (const SiteIds::Ranks& ranks : ids.ranks) {
            m_xml.start("Ranks");
            m_xml.attribute("first", ranks.first);
            m_xml.attribute("last", ranks.last);
            m_xml.end();
        }
        m_xml.end();
    }

    /// Nothing where hosts were not compared.
    void write_clocks()
    {
        if (m_project.clocks.empty())
            return;
        m_xml.start("ClockList");
        for (const HostClock& clock : m_project.clocks)
            write_clock(clock);
        m_xml.end();
    }

    void write_clock(const HostClock& clock)
    {
        m_xml.start("Clock");
        m_xml.attribute("host", clock.host);
        if (clock.uncertainty)
            m_xml.attribute("uncertainty", seconds_text(std::llround(std::ceil(*clock.uncertainty))));
        for (const HostClock::Part& part : clock.parts) {
            if (clock.is_right())
                break;
            std::array<char, 32> drift{};
            m_xml.start("Part");
            m_xml.attribute("from", seconds_text(part.from));
            m_xml.attribute("offset", seconds_text(part.offset));
            m_xml.attribute("drift",
                            {drift.data(), std::to_chars(drift.begin(), drift.end(), part.drift).ptr});
            m_xml.end();
        }
        m_xml.end();
    }

    const MergedProject& m_project;
    const ProjectOptions& m_options;
    WayToDirectories m_ways;
    XmlWriter m_xml;
};

} // namespace

void write_project(const MergedProject& project, const ProjectOptions& options, int file)
{
    ProjectWriter(project, options, file).write();
}

} // namespace hdtrace::merger
