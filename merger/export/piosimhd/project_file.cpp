#include "merger/export/piosimhd/project_file.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "merger/project_writer.h"
#include "merger/xml_writer.h"

namespace hdtrace::exporter::piosimhd {

namespace {

constexpr const char* world_name = "WORLD";

class ProjectFileWriter {
  public:
    ProjectFileWriter(const Contents& contents, const Statistics& statistics, const ObjectTable& objects,
                      int file, TypeLosses& losses)
        : m_contents(contents), m_project(contents.project()), m_statistics(statistics), m_maps(objects),
          m_losses(losses), m_xml(file)
    {
    }

    /// Names are the first attributes: HDReplay takes what comes first.
    void write()
    {
        m_xml.start("Application");
        m_xml.attribute("name", m_project.name);
        m_xml.attribute("processCount", m_project.process_count);
        m_xml.element("Description", m_project.description);
        write_files();
        write_topology();
        write_statistics();
        write_communicators();
        write_datatypes();
        m_xml.end();
        m_xml.finish();
    }

  private:
    void write_files()
    {
        m_xml.start("FileList");
        for (const ProjectFile& file : m_project.files)
            write_file(file);
        m_xml.end();
    }

    /// The newer readers want the size of the chunks inside, the older ones beside.
    void write_file(const ProjectFile& file)
    {
        const merger::ProjectOptions usual;
        const std::string& chunk = file.chunk_size.empty() ? usual.chunk_size : file.chunk_size;
        const std::string& distribution =
            file.distribution_class.empty() ? usual.distribution_class : file.distribution_class;
        m_xml.start("File");
        m_xml.attribute("name", m_contents.name_of(file));
        m_xml.element("InitialSize",
                      std::to_string(std::max<std::int64_t>(file.initial_size.value_or(0), 0)));
        m_xml.start("Distribution");
        m_xml.attribute("class", distribution);
        m_xml.attribute("implementation", distribution);
        m_xml.element("ChunkSize", chunk);
        m_xml.end();
        m_xml.element("ChunkSize", chunk);
        m_xml.end();
    }

    void write_topology()
    {
        m_xml.start("Topology");
        for (const char* level : {"Hostname", "Rank", "Thread"}) {
            m_xml.start("Level");
            m_xml.attribute("name", level);
            m_xml.attribute("type", level);
        }
        for (int i = 0; i < 3; ++i)
            m_xml.end();
        std::map<std::string, std::map<std::int64_t, std::set<std::int64_t>>> hosts;
        for (const Leaf& leaf : m_contents.leaves())
            hosts[leaf.host][leaf.trace.rank].insert(leaf.trace.thread);
        write_nodes(hosts, "Node", "name");
        write_nodes(hosts, "Label", "value");
        m_xml.end();
    }

    void write_nodes(const auto& hosts, std::string_view element, std::string_view attribute)
    {
        const auto start = [&](const auto& label) {
            m_xml.start(element);
            m_xml.attribute(attribute, label);
        };
        for (const auto& [host, ranks] : hosts) {
            start(host);
            for (const auto& [rank, threads] : ranks) {
                start(rank);
                for (const std::int64_t thread : threads) {
                    start(thread);
                    m_xml.end();
                }
                m_xml.end();
            }
            m_xml.end();
        }
    }

    /// Missing where there is none: the older readers stop at an empty one.
    void write_statistics()
    {
        if (m_statistics.groups.empty())
            return;
        m_xml.start("ExternalStatistics");
        for (const StatisticsGroup& group : m_statistics.groups) {
            m_xml.start(group.name);
            m_xml.attribute("timestampDatatype", "EPOCH");
            for (const StatisticsValue& value : group.values) {
                m_xml.start(value.name);
                m_xml.attribute("type", value.type);
                m_xml.attribute("unit", value.unit);
                m_xml.attribute("multiplier", 1);
                m_xml.end();
            }
            m_xml.end();
        }
        m_xml.end();
    }

    /// One of all processes has to be there, and to have its name alone.
    void write_communicators()
    {
        m_xml.start("CommunicatorList");
        find_next_ids();
        bool has_world = false;
        for (const Communicator& communicator : m_project.communicators) {
            const bool is_world = communicator.name == world_name && !has_world &&
                                  std::ssize(communicator.members) == m_project.process_count;
            has_world = has_world || is_world;
            const bool is_taken = communicator.name == world_name && !is_world;
            write_communicator(communicator, is_taken ? "WORLD of some" : communicator.name);
        }
        if (!has_world)
            write_world();
        m_xml.end();
    }

    /// Ids that no trace uses.
    void find_next_ids()
    {
        for (const Communicator& communicator : m_project.communicators) {
            for (const Communicator::Member& member : communicator.members) {
                if (const std::int64_t id = member.cid.value_or(-1);
                    id < std::numeric_limits<std::int32_t>::max())
                    m_next_ids[member.global] = std::max(m_next_ids[member.global], id + 1);
            }
        }
    }

    /// The two sides of an intercommunicator become one group, in which ranks are unique.
    void write_communicator(const Communicator& communicator, const std::string& name)
    {
        std::int64_t first_side = 0;
        for (const Communicator::Member& member : communicator.members) {
            if (member.group == 0)
                first_side = std::max(first_side, member.local + 1);
        }
        m_xml.start("Communicator");
        m_xml.attribute("name", name);
        for (const Communicator::Member& member : communicator.members) {
            if (member.global >= 0 && member.global < m_project.process_count)
                write_member(member.global, member.local + (member.group == 1 ? first_side : 0), member.cid);
        }
        m_xml.end();
    }

    void write_member(std::int64_t rank, std::int64_t local, std::optional<std::int64_t> id)
    {
        m_xml.start("Rank");
        m_xml.attribute("global", rank);
        m_xml.attribute("local", local);
        m_xml.attribute("cid", id ? *id : m_next_ids[rank]++);
        m_xml.end();
    }

    void write_world()
    {
        m_xml.start("Communicator");
        m_xml.attribute("name", world_name);
        for (std::int64_t rank = 0; rank < m_project.process_count; ++rank)
            write_member(rank, rank, {});
        m_xml.end();
    }

    /// One element for each process: two with one name stop the readers.
    void write_datatypes()
    {
        m_xml.start("Datatypes");
        std::set<std::int64_t> written;
        for (const RankDatatypes& types : m_project.datatypes) {
            if (!written.insert(types.rank).second)
                continue;
            m_xml.start("Rank");
            m_xml.attribute("name", types.rank);
            m_xml.attribute("thread", types.thread);
            for (const LoadableType& type : loadable_types(types, m_maps, m_losses))
                write_type(type);
            m_xml.end();
        }
        m_xml.end();
    }

    void write_type(const LoadableType& type)
    {
        static constexpr std::string_view elements[] = {"NAMED", "VECTOR", "STRUCT"};
        m_xml.start(elements[static_cast<std::size_t>(type.form)]);
        m_xml.attribute("id", type.id);
        m_xml.attribute("name", type.name);
        if (type.form == LoadableType::Form::vector) {
            m_xml.attribute("count", type.count);
            m_xml.attribute("blocklength", type.block_length);
            m_xml.attribute("stride", type.stride);
            m_xml.attribute("oldType", type.old_type);
        }
        if (type.form == LoadableType::Form::structure)
            m_xml.attribute("count", type.parts.size());
        for (const LoadableType::Part& part : type.parts) {
            m_xml.start("Type");
            m_xml.attribute("id", part.id);
            m_xml.attribute("displacement", part.displacement);
            m_xml.attribute("blocklen", part.length);
            m_xml.end();
        }
        m_xml.end();
    }

    const Contents& m_contents;
    const Project& m_project;
    const Statistics& m_statistics;
    TypeMaps m_maps;
    TypeLosses& m_losses;
    std::map<std::int64_t, std::int64_t> m_next_ids;
    merger::XmlWriter m_xml;
};

} // namespace

void write_project(const Contents& contents, const Statistics& statistics, const ObjectTable& objects,
                   int file, TypeLosses& losses)
{
    ProjectFileWriter(contents, statistics, objects, file, losses).write();
}

} // namespace hdtrace::exporter::piosimhd
