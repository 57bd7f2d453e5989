#include "merger/export/otf2/definitions.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <string_view>

#include "hdtrace/calls/calls.h"

namespace hdtrace::exporter::otf2 {

namespace {

constexpr OTF2_IoParadigmRef mpi_io = 0;

struct Role {
    CallClass of_class;
    OTF2_RegionRole role;
};

constexpr Role roles[] = {
    {CallClass::point_to_point, OTF2_REGION_ROLE_POINT2POINT},
    {CallClass::completion, OTF2_REGION_ROLE_POINT2POINT},
    {CallClass::collective, OTF2_REGION_ROLE_COLL_OTHER},
    {CallClass::one_sided, OTF2_REGION_ROLE_RMA},
    {CallClass::file, OTF2_REGION_ROLE_FILE_IO},
    {CallClass::other, OTF2_REGION_ROLE_CODE},
};

OTF2_RegionRole role_of(CallClass of_class)
{
    const auto found = std::ranges::find(roles, of_class, &Role::of_class);
    return found == std::end(roles) ? OTF2_RegionRole{OTF2_REGION_ROLE_FUNCTION} : found->role;
}

/// For which time the value of a counter holds.
struct Validity {
    std::string_view valid;
    OTF2_MetricMode mode;
};

constexpr Validity validities[] = {
    {"after", OTF2_METRIC_ABSOLUTE_NEXT},
    {"before", OTF2_METRIC_ABSOLUTE_LAST},
    {"point", OTF2_METRIC_ABSOLUTE_POINT},
    {"sample", OTF2_METRIC_ABSOLUTE_POINT},
};

std::string value_in(const Element* fact, std::string_view key)
{
    return fact ? fact->text(key) : std::string();
}

OTF2_MetricMode mode_of(const Element* counter)
{
    const auto found = std::ranges::find(validities, value_in(counter, "valid"), &Validity::valid);
    return found == std::end(validities) ? OTF2_MetricMode{OTF2_METRIC_ABSOLUTE_POINT} : found->mode;
}

bool has_members_of(const Communicator& communicator, const Window& window)
{
    return std::ranges::equal(communicator.members, window.members,
                              [](const auto& member, const auto& of_window) {
                                  return member.global == of_window.global && member.local == of_window.local;
                              });
}

/// Older traces do not name it.
const Communicator* communicator_of(const Project& project, const Window& window)
{
    const auto found = std::ranges::find_if(project.communicators, [&](const Communicator& communicator) {
        return window.communicator.empty() ? has_members_of(communicator, window)
                                           : communicator.uid == window.communicator;
    });
    return found == project.communicators.end() ? nullptr : &*found;
}

/// What is kept for a key, if anything is.
template <class Map>
std::optional<typename Map::mapped_type> find_in(const Map& map, const typename Map::key_type& key)
{
    const auto found = map.find(key);
    return found == map.end() ? std::nullopt : std::optional(found->second);
}

} // namespace

Definitions::Definitions(const Project& project)
    : m_project(project), m_region_facts(project.run, "Region"), m_counter_facts(project.run, "Counter")
{
    for (const Communicator& communicator : project.communicators)
        m_communicators[&communicator] = static_cast<OTF2_CommRef>(m_communicators.size());
    for (const ProjectFile& file : project.files)
        m_files[&file] = static_cast<OTF2_IoHandleRef>(m_files.size());
    for (const Window& window : project.windows) {
        const auto ref = static_cast<OTF2_RmaWinRef>(m_windows.size());
        if (const Communicator* communicator = communicator_of(project, window))
            m_windows[&window] = {ref, communicator};
    }
}

std::optional<OTF2_RegionRef> Definitions::find_region(const RegionName& name) const
{
    return find_in(m_regions, name);
}

OTF2_RegionRef Definitions::add_region(const RegionName& name)
{
    const auto [place, is_new] =
        m_regions.try_emplace(name, static_cast<OTF2_RegionRef>(m_region_names.size()));
    if (is_new)
        m_region_names.push_back(&place->first);
    return place->second;
}

Definitions::Metric Definitions::metric(const std::string& name, OTF2_LocationRef location)
{
    const auto [counter, is_new] = m_counters.try_emplace(name);
    const auto next = [this] { return static_cast<OTF2_MetricRef>(m_metrics.size()); };
    if (is_new) {
        const bool is_integer = value_in(m_counter_facts.find(name), "type") == "integer";
        counter->second.type = is_integer ? OTF2_TYPE_INT64 : OTF2_TYPE_DOUBLE;
        counter->second.ref = next();
        m_metrics.push_back({counter, {}});
    }
    const auto [instance, is_new_there] = counter->second.of_location.try_emplace(location, next());
    if (is_new_there)
        m_metrics.push_back({counter, location});
    return {instance->second, counter->second.type};
}

std::optional<Definitions::SourceLine> Definitions::source_line(const CallSite* site)
{
    const SourceFunction* const function = site ? site->function() : nullptr;
    if (!function || function->file.empty() || !function->line)
        return std::nullopt;
    return SourceLine(function->file, *function->line);
}

std::optional<OTF2_SourceCodeLocationRef> Definitions::find_source(const SourceLine& line) const
{
    return find_in(m_sources, line);
}

OTF2_SourceCodeLocationRef Definitions::add_source(const SourceLine& line)
{
    const auto next = static_cast<OTF2_SourceCodeLocationRef>(m_source_lines.size());
    const auto [place, is_new] = m_sources.try_emplace(line, next);
    if (is_new)
        m_source_lines.push_back(&place->first);
    return place->second;
}

std::optional<OTF2_GroupRef> Definitions::find_group(const std::vector<std::uint64_t>& ranks) const
{
    return find_in(m_groups, ranks);
}

OTF2_GroupRef Definitions::group(const std::vector<std::uint64_t>& ranks)
{
    const auto next = static_cast<OTF2_GroupRef>(m_members.size() + 1); // the first one is the world
    const auto [place, is_new] = m_groups.try_emplace(ranks, next);
    if (is_new)
        m_members.push_back(&place->first);
    return place->second;
}

const Definitions::WindowDefinition* Definitions::window(const Window* window) const
{
    const auto found = m_windows.find(window);
    return found == m_windows.end() ? nullptr : &found->second;
}

std::optional<std::uint32_t> Definitions::LocalRanks::of(std::int64_t rank) const
{
    if (rank < 0)
        return std::nullopt;
    const auto found =
        std::ranges::lower_bound(sorted, rank, {}, &std::pair<std::int64_t, std::uint32_t>::first);
    return found == sorted.end() || found->first != rank ? std::nullopt : std::optional(found->second);
}

std::optional<std::int64_t> Definitions::LocalRanks::member_count() const
{
    return is_one_group && all_have_places ? std::optional(std::ssize(sorted)) : std::nullopt;
}

const Definitions::LocalRanks& Definitions::local_ranks(const Communicator* communicator) const
{
    const std::lock_guard lock(m_local_ranks_mutex);
    const auto [place, is_new] = m_local_ranks.try_emplace(communicator);
    LocalRanks& ranks = place->second;
    if (!is_new)
        return ranks;
    const std::int64_t count = std::ssize(communicator->members);
    for (const Communicator::Member& member : communicator->members) {
        ranks.sorted.emplace_back(member.global, static_cast<std::uint32_t>(member.local));
        ranks.is_one_group = ranks.is_one_group && !member.group;
        ranks.all_have_places = ranks.all_have_places && member.local >= 0 && member.local < count;
    }
    std::ranges::sort(ranks.sorted);
    return ranks;
}

void Definitions::write(OTF2_GlobalDefWriter* writer, const std::vector<LocationDefinition>& locations,
                        std::int64_t begin, std::int64_t end)
{
    check(OTF2_GlobalDefWriter_WriteClockProperties(
        writer, 1'000'000'000, static_cast<uint64_t>(begin),
        static_cast<uint64_t>(end) - static_cast<uint64_t>(begin) + 1, static_cast<uint64_t>(begin)));
    m_writer = writer;
    write_attribute(offset_attribute, "offset", "of the first byte in the file");
    write_attribute(target_offset_attribute, "target offset",
                    "of the first byte in the window of the target");
    write_sources();
    write_locations(locations);
    write_regions();
    for (const Communicator& communicator : m_project.communicators)
        groups_of(communicator);
    write_groups(locations);
    write_communicators();
    write_windows();
    write_files();
    write_metrics(locations);
}

OTF2_StringRef Definitions::text(const std::string& text)
{
    const auto [place, is_new] = m_texts.try_emplace(text, static_cast<OTF2_StringRef>(m_texts.size()));
    if (is_new)
        check(OTF2_GlobalDefWriter_WriteString(m_writer, place->second, text.c_str()));
    return place->second;
}

void Definitions::write_attribute(OTF2_AttributeRef ref, const std::string& name,
                                  const std::string& description, OTF2_Type type)
{
    const OTF2_StringRef name_ref = text(name);
    check(OTF2_GlobalDefWriter_WriteAttribute(m_writer, ref, name_ref, text(description), type));
}

/// Readers know the attribute by its name.
void Definitions::write_sources()
{
    if (m_sources.empty())
        return;
    write_attribute(source_attribute, "SOURCE_CODE_LOCATION", "where the program calls",
                    OTF2_TYPE_SOURCE_CODE_LOCATION);
    for (std::size_t ref = 0; ref < m_source_lines.size(); ++ref) {
        const auto& [file, line] = *m_source_lines[ref];
        const OTF2_StringRef file_ref = text(file);
        check(OTF2_GlobalDefWriter_WriteSourceCodeLocation(
            m_writer, static_cast<OTF2_SourceCodeLocationRef>(ref), file_ref, static_cast<uint32_t>(line)));
    }
}

void Definitions::write_locations(const std::vector<LocationDefinition>& locations)
{
    std::map<std::string, OTF2_SystemTreeNodeRef> hosts;
    for (std::size_t i = 0; i < locations.size(); ++i) {
        const auto& [rank, thread, process, host, events] = locations[i];
        const auto next = static_cast<OTF2_SystemTreeNodeRef>(hosts.size());
        const auto [node, is_new] = hosts.try_emplace(host, next);
        if (is_new)
            check(OTF2_GlobalDefWriter_WriteSystemTreeNode(m_writer, node->second, text(host), text("node"),
                                                           OTF2_UNDEFINED_SYSTEM_TREE_NODE));
        m_nodes.push_back(node->second);
        const auto group = static_cast<OTF2_LocationGroupRef>(rank);
        if (i == 0 || rank != locations[i - 1].rank)
            check(OTF2_GlobalDefWriter_WriteLocationGroup(m_writer, group, text(process),
                                                          OTF2_LOCATION_GROUP_TYPE_PROCESS, node->second,
                                                          OTF2_UNDEFINED_LOCATION_GROUP));
        check(OTF2_GlobalDefWriter_WriteLocation(m_writer, i, text("Thread " + std::to_string(thread)),
                                                 OTF2_LOCATION_TYPE_CPU_THREAD, events, group));
    }
}

void Definitions::write_regions()
{
    for (std::size_t ref = 0; ref < m_region_names.size(); ++ref) {
        const auto& [is_own, name] = *m_region_names[ref];
        const CallClass of_class = is_own ? CallClass::other : class_of(name);
        const Element* const fact = is_own ? region_fact(name) : nullptr;
        const auto line = fact ? fact->integer("line").value_or(0) : 0;
        const OTF2_StringRef file = text(value_in(fact, "file"));
        const bool is_mpi = of_class != CallClass::other;
        const OTF2_StringRef shown = text(is_mpi ? "MPI_" + name : name);
        check(OTF2_GlobalDefWriter_WriteRegion(m_writer, static_cast<OTF2_RegionRef>(ref), shown, shown,
                                               text(""), role_of(of_class),
                                               is_mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER,
                                               OTF2_REGION_FLAG_NONE, file, static_cast<uint32_t>(line), 0));
    }
}

void Definitions::write_metrics(const std::vector<LocationDefinition>& locations)
{
    OTF2_MetricMemberRef member = 0;
    for (const auto& [counter, location] : m_metrics) {
        const auto& [name, definition] = *counter;
        if (location)
            write_instance(definition, m_counter_facts.find(name), locations[*location], *location);
        else
            write_counter(name, definition, member++);
    }
}

void Definitions::write_counter(const std::string& name, const Counter& counter, OTF2_MetricMemberRef member)
{
    const Element* const fact = m_counter_facts.find(name);
    const OTF2_StringRef name_ref = text(name), unit = text(value_in(fact, "unit"));
    check(OTF2_GlobalDefWriter_WriteMetricMember(m_writer, member, name_ref, text(""), OTF2_METRIC_TYPE_USER,
                                                 mode_of(fact), counter.type, OTF2_BASE_DECIMAL, 0, unit));
    check(OTF2_GlobalDefWriter_WriteMetricClass(m_writer, counter.ref, 1, &member, OTF2_METRIC_ASYNCHRONOUS,
                                                OTF2_RECORDER_KIND_ABSTRACT));
}

/// What one thread tells of the thread, the process or the node that the counter is of.
void Definitions::write_instance(const Counter& counter, const Element* fact, const LocationDefinition& at,
                                 OTF2_LocationRef location)
{
    const std::string of = value_in(fact, "scope");
    OTF2_MetricScope scope = OTF2_SCOPE_LOCATION_GROUP;
    auto place = static_cast<uint64_t>(at.rank);
    if (of == "thread") {
        scope = OTF2_SCOPE_LOCATION;
        place = location;
    } else if (of == "node") {
        scope = OTF2_SCOPE_SYSTEM_TREE_NODE;
        place = m_nodes[location];
    }
    check(OTF2_GlobalDefWriter_WriteMetricInstance(m_writer, counter.of_location.at(location), counter.ref,
                                                   location, scope, place));
}

/// The first one is the world: other groups have places in it as members.
void Definitions::write_groups(const std::vector<LocationDefinition>& locations)
{
    std::vector<std::uint64_t> first_threads;
    for (std::size_t i = 0; i < locations.size(); ++i) {
        if (i == 0 || locations[i].rank != locations[i - 1].rank)
            first_threads.push_back(i);
    }
    write_group(0, OTF2_GROUP_TYPE_COMM_LOCATIONS, first_threads);
    for (std::size_t i = 0; i < m_members.size(); ++i)
        write_group(static_cast<OTF2_GroupRef>(i + 1), OTF2_GROUP_TYPE_COMM_GROUP, *m_members[i]);
}

void Definitions::write_communicators()
{
    for (const Communicator& communicator : m_project.communicators) {
        const OTF2_CommRef ref = m_communicators.at(&communicator);
        const OTF2_StringRef name = text(communicator.name);
        const std::vector<OTF2_GroupRef> groups = groups_of(communicator);
        if (groups.size() == 1)
            check(OTF2_GlobalDefWriter_WriteComm(m_writer, ref, name, groups[0], OTF2_UNDEFINED_COMM,
                                                 OTF2_COMM_FLAG_NONE));
        else
            check(OTF2_GlobalDefWriter_WriteInterComm(m_writer, ref, name, groups[0], groups[1],
                                                      OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    }
}

std::vector<OTF2_GroupRef> Definitions::groups_of(const Communicator& communicator)
{
    std::map<std::int64_t, std::map<std::int64_t, std::uint64_t>> by_local_rank{{0, {}}};
    for (const Communicator::Member& member : communicator.members)
        by_local_rank[member.group.value_or(0)][member.local] = static_cast<std::uint64_t>(member.global);
    std::vector<OTF2_GroupRef> groups;
    for (const auto& [ignored, members] : by_local_rank) {
        const auto ranks = std::views::values(members);
        groups.push_back(group({ranks.begin(), ranks.end()}));
    }
    return groups;
}

void Definitions::write_group(OTF2_GroupRef ref, OTF2_GroupType type,
                              const std::vector<std::uint64_t>& members)
{
    check(OTF2_GlobalDefWriter_WriteGroup(m_writer, ref, text(""), type, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, static_cast<uint32_t>(members.size()),
                                          members.data()));
}

void Definitions::write_windows()
{
    for (const Window& window : m_project.windows) {
        if (const WindowDefinition* definition = this->window(&window))
            check(OTF2_GlobalDefWriter_WriteRmaWin(
                m_writer, definition->ref, text(window.name.empty() ? window.uid : window.name),
                m_communicators.at(definition->communicator), OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS));
    }
}

std::optional<OTF2_IoHandleRef> Definitions::find_handle(const FileHandle& handle) const
{
    if (handle.others == 0)
        return m_files.at(handle.file);
    const auto found = m_more_handles.find(handle);
    return found == m_more_handles.end() ? std::nullopt : std::optional(found->second);
}

OTF2_IoHandleRef Definitions::add_handle(const FileHandle& handle)
{
    const auto next = static_cast<OTF2_IoHandleRef>(m_files.size() + m_more_handles.size());
    return m_more_handles.try_emplace(handle, next).first->second;
}

void Definitions::opened(const FileHandle& handle, const Communicator* communicator)
{
    const std::lock_guard lock(m_opened_with_mutex);
    const auto [place, is_new] = m_opened_with.try_emplace(handle, communicator);
    if (!is_new && place->second != communicator)
        place->second = nullptr;
}

OTF2_CommRef Definitions::communicator_of_handle(const FileHandle& handle) const
{
    const auto opened = m_opened_with.find(handle);
    const bool is_known = opened != m_opened_with.end() && opened->second != nullptr;
    return is_known ? communicator(opened->second) : OTF2_UNDEFINED_COMM;
}

void Definitions::write_files()
{
    const OTF2_StringRef identification = text("MPI-IO"), name = text("MPI-IO");
    check(OTF2_GlobalDefWriter_WriteIoParadigm(m_writer, mpi_io, identification, name,
                                               OTF2_IO_PARADIGM_CLASS_PARALLEL, OTF2_IO_PARADIGM_FLAG_NONE, 0,
                                               nullptr, nullptr, nullptr));
    for (const ProjectFile& file : m_project.files) {
        const OTF2_IoHandleRef ref = m_files.at(&file);
        const OTF2_StringRef file_name = text(file.name);
        check(OTF2_GlobalDefWriter_WriteIoRegularFile(m_writer, ref, file_name,
                                                      OTF2_UNDEFINED_SYSTEM_TREE_NODE));
        write_handle({&file, 0}, ref);
    }
    for (const auto& [handle, ref] : m_more_handles)
        write_handle(handle, ref);
}

void Definitions::write_handle(const FileHandle& handle, OTF2_IoHandleRef ref)
{
    check(OTF2_GlobalDefWriter_WriteIoHandle(m_writer, ref, text(handle.file->name), m_files.at(handle.file),
                                             mpi_io, OTF2_IO_HANDLE_FLAG_NONE, communicator_of_handle(handle),
                                             OTF2_UNDEFINED_IO_HANDLE));
}

} // namespace hdtrace::exporter::otf2
