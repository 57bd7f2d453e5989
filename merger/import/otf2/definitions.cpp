#include "merger/import/otf2/definitions.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>

#include "hdtrace/calls/calls.h"
#include "hdtrace/format/nanoseconds.h"
#include "merger/import/otf2/callbacks.h"
#include "merger/import/source.h"
#include "merger/rank_map.h"

namespace hdtrace::importer::otf2 {

namespace {

/// TAU writes "MPI_Send()", some Fortran programs spaces behind.
std::string plain_name(std::string name)
{
    while (name.ends_with(' '))
        name.pop_back();
    if (name.ends_with("()"))
        name.resize(name.size() - 2);
    return name;
}

std::string call_of(const std::string& region)
{
    const std::string name = plain_name(region);
    const bool is_function = name.starts_with("MPI_") && find_call(name.substr(4)) != nullptr;
    return is_function ? name.substr(4) : std::string();
}

} // namespace

void check(OTF2_ErrorCode result, const std::string& where)
{
    if (result != OTF2_SUCCESS)
        throw ImportError(where + ": " + OTF2_Error_GetDescription(result));
}

// --- the clock ---

Clock::Clock(std::uint64_t resolution, std::uint64_t offset, std::uint64_t realtime)
    : m_resolution(resolution), m_offset(offset)
{
    constexpr std::uint64_t latest = 9'000'000'000'000'000'000;
    m_knows_date = realtime != OTF2_UNDEFINED_TIMESTAMP && realtime != 0 && realtime < latest;
    m_begin = m_knows_date ? static_cast<std::int64_t>(realtime) : 0;
    m_base = m_begin / nanoseconds_per_second;
}

std::int64_t Clock::time_of(OTF2_TimeStamp ticks) const
{
    __extension__ using Wide = __int128;
    const Wide since = static_cast<Wide>(ticks) - static_cast<Wide>(m_offset);
    const Wide time = m_begin + since * nanoseconds_per_second / static_cast<Wide>(m_resolution);
    const Wide earliest = static_cast<Wide>(m_base) * nanoseconds_per_second;
    const Wide latest = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::clamp(time, earliest, latest));
}

// --- what the library reads ---

/// Its callbacks.
struct DefinitionCallbacks {
    Definitions& to;
    ExceptionKeeper keeper = {};

    void clock(std::uint64_t resolution, std::uint64_t offset, std::uint64_t, std::uint64_t realtime)
    {
        if (resolution == 0)
            throw ImportError(to.m_archive + ": the clock has no ticks");
        to.m_clock = Clock(resolution, offset, realtime);
    }
    void string(OTF2_StringRef self, const char* text) { to.m_texts[self] = text; }
    void attribute(OTF2_AttributeRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_Type type)
    {
        if (to.text(name) == "offset" && type == OTF2_TYPE_UINT64)
            to.m_offset_attribute = self;
    }
    void node(OTF2_SystemTreeNodeRef self, OTF2_StringRef name, OTF2_StringRef of_class,
              OTF2_SystemTreeNodeRef parent)
    {
        to.m_nodes[self] = {to.text(of_class) == "node" ? to.text(name) : std::string(), parent};
    }
    void location_group(OTF2_LocationGroupRef self, OTF2_StringRef, OTF2_LocationGroupType type,
                        OTF2_SystemTreeNodeRef node, OTF2_LocationGroupRef)
    {
        to.m_location_groups[self] = {type, node};
    }
    void location(OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type, std::uint64_t events,
                  OTF2_LocationGroupRef group)
    {
        to.m_locations[self] = {to.text(name), type, events, group};
    }
    void region(OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_StringRef, OTF2_RegionRole,
                OTF2_Paradigm, OTF2_RegionFlag, OTF2_StringRef file, uint32_t line, uint32_t)
    {
        const std::string text = to.text(name);
        to.m_regions[self] = {text, call_of(text), to.text(file), line};
    }
    void group(OTF2_GroupRef self, OTF2_StringRef, OTF2_GroupType type, OTF2_Paradigm paradigm,
               OTF2_GroupFlag, uint32_t count, const uint64_t* members)
    {
        Group group{type, paradigm, {members, members + count}};
        // EZTrace gives the group of the communicator the same number, so it is kept by itself.
        if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS && paradigm == OTF2_PARADIGM_MPI && !to.m_world)
            to.m_world = group;
        to.m_groups[self] = std::move(group);
    }
    void communicator(OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group, OTF2_CommRef,
                      OTF2_CommFlag)
    {
        to.m_communicator_definitions[self] = {name, {group}};
    }
    void intercommunicator(OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef one, OTF2_GroupRef other,
                           OTF2_CommRef, OTF2_CommFlag)
    {
        to.m_communicator_definitions[self] = {name, {one, other}};
    }
    void window(OTF2_RmaWinRef self, OTF2_StringRef, OTF2_CommRef communicator, OTF2_RmaWinFlag)
    {
        to.m_windows[self] = communicator;
    }
    void member(OTF2_MetricMemberRef self, OTF2_StringRef name, OTF2_StringRef description, OTF2_MetricType,
                OTF2_MetricMode mode, OTF2_Type type, OTF2_Base, std::int64_t, OTF2_StringRef unit)
    {
        to.m_members[self] = {to.text(name), to.text(unit), to.text(description), mode, type};
    }
    void metric(OTF2_MetricRef self, uint8_t count, const OTF2_MetricMemberRef* members,
                OTF2_MetricOccurrence, OTF2_RecorderKind)
    {
        to.m_metrics[self].members.assign(members, members + count);
    }
    void metric_instance(OTF2_MetricRef self, OTF2_MetricRef of_class, OTF2_LocationRef,
                         OTF2_MetricScope scope, std::uint64_t)
    {
        to.m_metrics[self] = {to.m_metrics[of_class].members, scope};
    }
    void handle(OTF2_IoHandleRef self, OTF2_StringRef name, OTF2_IoFileRef file, OTF2_IoParadigmRef,
                OTF2_IoHandleFlag, OTF2_CommRef communicator, OTF2_IoHandleRef)
    {
        to.m_file_communicators[self] = communicator;
        const auto found = files.find(file);
        to.m_files[self] = found == files.end() ? to.text(name) : found->second;
    }
    void regular_file(OTF2_IoFileRef self, OTF2_StringRef name, OTF2_SystemTreeNodeRef)
    {
        files[self] = to.text(name);
    }

    std::unordered_map<OTF2_IoFileRef, std::string> files = {};
};

Definitions::Definitions(OTF2_Reader* reader, const std::string& archive) : m_archive(archive)
{
    using To = DefinitionCallbacks;
    using Callbacks =
        std::unique_ptr<OTF2_GlobalDefReaderCallbacks, decltype(&OTF2_GlobalDefReaderCallbacks_Delete)>;
    const Callbacks all(OTF2_GlobalDefReaderCallbacks_New(), OTF2_GlobalDefReaderCallbacks_Delete);
    OTF2_GlobalDefReaderCallbacks* const set = all.get();
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(set, definition<&To::clock, To>);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(set, definition<&To::string, To>);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(set, definition<&To::attribute, To>);
    OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(set, definition<&To::node, To>);
    OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(set, definition<&To::location_group, To>);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(set, definition<&To::location, To>);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(set, definition<&To::region, To>);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(set, definition<&To::group, To>);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(set, definition<&To::communicator, To>);
    OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(set, definition<&To::intercommunicator, To>);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(set, definition<&To::window, To>);
    OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(set, definition<&To::member, To>);
    OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(set, definition<&To::metric, To>);
    OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(set, definition<&To::metric_instance, To>);
    OTF2_GlobalDefReaderCallbacks_SetIoRegularFileCallback(set, definition<&To::regular_file, To>);
    OTF2_GlobalDefReaderCallbacks_SetIoHandleCallback(set, definition<&To::handle, To>);
    DefinitionCallbacks target{*this};
    OTF2_GlobalDefReader* const definitions = OTF2_Reader_GetGlobalDefReader(reader);
    if (definitions == nullptr)
        throw ImportError(archive + ": its global definitions cannot be read");
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, set, &target);
    uint64_t count = 0;
    const OTF2_ErrorCode result = OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &count);
    target.keeper.rethrow();
    check(result, archive + ": the global definitions, after " + std::to_string(count));
    OTF2_Reader_CloseGlobalDefReader(reader, definitions);
    find_processes();
    find_hosts();
    find_communicators();
}

std::string Definitions::text(OTF2_StringRef ref) const
{
    const std::string* const text = find(m_texts, ref);
    return text ? *text : std::string();
}

bool Definitions::has_region(std::string_view name) const
{
    return std::ranges::any_of(m_regions, [&](const auto& region) { return region.second.name == name; });
}

std::uint64_t Definitions::all_events() const
{
    std::uint64_t sum = 0;
    for (const auto& [ref, location] : m_locations)
        sum += location.events;
    return sum;
}

/// Which location is which rank says a group of the locations that MPI was initialised in. Without it each
/// process is one, in the order of their numbers.
void Definitions::find_processes()
{
    std::map<OTF2_LocationGroupRef, std::size_t> rank_of_group;
    const auto add = [&](OTF2_LocationGroupRef group, std::optional<OTF2_LocationRef> first) {
        if (!rank_of_group.try_emplace(group, m_processes.size()).second)
            throw ImportError(m_archive + ": two ranks are in one process");
        Process& process = m_processes.emplace_back();
        if (first)
            process.threads.push_back(*first);
    };
    if (m_world) {
        for (const std::uint64_t ref : m_world->members) {
            const Location* const location = find(m_locations, ref);
            if (location == nullptr)
                throw ImportError(m_archive + ": rank " + std::to_string(m_processes.size()) +
                                  " is in location " + std::to_string(ref) + ", which is not defined");
            add(location->group, ref);
        }
    } else {
        for (const auto& [ref, group] : m_location_groups)
            if (group.type == OTF2_LOCATION_GROUP_TYPE_PROCESS)
                add(ref, std::nullopt);
    }
    for (const auto& [ref, location] : m_locations) {
        const auto rank = rank_of_group.find(location.group);
        const bool is_thread = rank != rank_of_group.end() && location.type == OTF2_LOCATION_TYPE_CPU_THREAD;
        if (is_thread && std::ranges::find(m_processes[rank->second].threads, ref) ==
                             m_processes[rank->second].threads.end())
            m_processes[rank->second].threads.push_back(ref);
        else if (!is_thread) {
            ++m_other_locations;
            m_other_events += location.events;
        }
    }
    if (m_processes.empty())
        throw ImportError(m_archive + ": there is no process in it");
    if (m_processes.size() > static_cast<std::size_t>(merger::process_limit))
        throw ImportError(m_archive + ": there are too many processes");
}

void Definitions::find_hosts()
{
    for (Process& process : m_processes) {
        const Location* const location =
            process.threads.empty() ? nullptr : find(m_locations, process.threads[0]);
        const LocationGroup* const group = location ? find(m_location_groups, location->group) : nullptr;
        OTF2_SystemTreeNodeRef ref = group ? group->node : OTF2_UNDEFINED_SYSTEM_TREE_NODE;
        for (std::size_t depth = 0; depth < m_nodes.size() && process.host.empty(); ++depth) {
            const auto* const node = find(m_nodes, ref);
            if (node == nullptr)
                break;
            process.host = node->first;
            ref = node->second;
        }
    }
}

/// Members of a group are places in the group of locations, which are the ranks.
std::vector<std::int64_t> Definitions::ranks_of(OTF2_GroupRef ref) const
{
    const Group* const group = find(m_groups, ref);
    std::vector<std::int64_t> ranks;
    if (group == nullptr)
        return ranks;
    if (group->type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
        ranks.resize(group->members.size());
        std::iota(ranks.begin(), ranks.end(), 0);
        return ranks;
    }
    for (const std::uint64_t member : group->members) {
        if (member >= m_processes.size())
            throw ImportError(m_archive + ": group " + std::to_string(ref) + " has a member " +
                              std::to_string(member) + ", but there are " +
                              std::to_string(m_processes.size()) + " processes");
        ranks.push_back(static_cast<std::int64_t>(member));
    }
    return ranks;
}

/// Threads and accelerators have communicators, too: members of their groups are places among other
/// locations.
bool Definitions::is_of_mpi(const CommunicatorDefinition& communicator) const
{
    return std::ranges::all_of(communicator.groups, [this](OTF2_GroupRef ref) {
        const Group* const group = find(m_groups, ref);
        return group == nullptr || group->paradigm == OTF2_PARADIGM_MPI ||
               group->paradigm == OTF2_PARADIGM_UNKNOWN;
    });
}

/// The world is the first communicator of all ranks in their order, and all others have ids behind it.
void Definitions::find_communicators()
{
    std::vector<std::int64_t> all(m_processes.size());
    std::iota(all.begin(), all.end(), 0);
    bool has_world = false;
    std::int64_t next = 1;
    for (const auto& [ref, definition] : m_communicator_definitions) {
        if (!is_of_mpi(definition))
            continue;
        Communicator communicator;
        communicator.name = text(definition.name);
        for (const OTF2_GroupRef group : definition.groups) {
            const Group* const of_group = find(m_groups, group);
            communicator.is_self |= of_group && of_group->type == OTF2_GROUP_TYPE_COMM_SELF;
            communicator.groups.push_back(ranks_of(group));
        }
        const bool is_world = !has_world && communicator.groups.size() == 1 &&
                              communicator.groups[0] == all && !communicator.is_self;
        has_world |= is_world;
        communicator.id = is_world ? 0 : next++;
        m_communicators[ref] = std::move(communicator);
    }
}

const Communicator* Definitions::communicator_of_window(OTF2_RmaWinRef ref) const
{
    const OTF2_CommRef* const communicator = find(m_windows, ref);
    return communicator ? this->communicator(*communicator) : nullptr;
}

std::optional<OTF2_LocationRef> Definitions::place_of_marker(OTF2_MarkerScope scope, std::uint64_t ref) const
{
    if (scope == OTF2_MARKER_SCOPE_LOCATION)
        return ref;
    if (scope != OTF2_MARKER_SCOPE_LOCATION_GROUP)
        return std::nullopt;
    for (const Process& process : m_processes) {
        if (!process.threads.empty() && find(m_locations, process.threads[0])->group == ref)
            return process.threads[0];
    }
    return std::nullopt;
}

} // namespace hdtrace::importer::otf2
