// The global definitions of an archive of OTF2, as far as projects know what they define.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <otf2/otf2.h>

namespace hdtrace::importer::otf2 {

struct Region {
    std::string name;
    std::string call; ///< what its state is called, if it is a function of MPI; else empty
    std::string file;
    std::int64_t line = 0; ///< 0 if it is not known
};

struct Location {
    std::string name;
    OTF2_LocationType type = OTF2_LOCATION_TYPE_UNKNOWN;
    std::uint64_t events = 0;
    OTF2_LocationGroupRef group = OTF2_UNDEFINED_LOCATION_GROUP;
};

struct LocationGroup {
    OTF2_LocationGroupType type = OTF2_LOCATION_GROUP_TYPE_UNKNOWN;
    OTF2_SystemTreeNodeRef node = OTF2_UNDEFINED_SYSTEM_TREE_NODE;
};

struct Group {
    OTF2_GroupType type = OTF2_GROUP_TYPE_UNKNOWN;
    OTF2_Paradigm paradigm = OTF2_PARADIGM_UNKNOWN;
    std::vector<std::uint64_t> members;
};

struct Communicator {
    std::string name;
    /// Ranks in MPI_COMM_WORLD, in the order of those in the communicator; one or, between two groups, two.
    std::vector<std::vector<std::int64_t>> groups;
    bool is_self = false; ///< each process has one of its own
    std::int64_t id = 0;  ///< in the project: 0 is the world
};

struct MetricMember {
    std::string name, unit, description;
    OTF2_MetricMode mode = 0;
    OTF2_Type type = OTF2_TYPE_NONE;
};

struct Metric {
    std::vector<OTF2_MetricMemberRef> members;
    OTF2_MetricScope scope = OTF2_SCOPE_LOCATION;
};

/// A process, and its locations that are threads; the first one is where MPI was initialised.
struct Process {
    std::string host; ///< empty: not known
    std::vector<OTF2_LocationRef> threads;
};

/// When a tick of the archive's clock was.
class Clock {
  public:
    Clock() = default;
    Clock(std::uint64_t resolution, std::uint64_t offset, std::uint64_t realtime);

    /// Nanoseconds since the epoch or, where that is not told, since the beginning; not before base() and at
    /// most what 64 bits hold.
    std::int64_t time_of(OTF2_TimeStamp ticks) const;
    /// The second that times count from.
    std::int64_t base() const { return m_base; }
    bool knows_date() const { return m_knows_date; }

  private:
    std::uint64_t m_resolution = 1'000'000'000;
    std::uint64_t m_offset = 0;
    std::int64_t m_begin = 0;
    std::int64_t m_base = 0;
    bool m_knows_date = false;
};

/// Throws ImportError with the library's reason.
void check(OTF2_ErrorCode result, const std::string& where);

class Definitions {
  public:
    /// Reads all. Throws ImportError. @p archive: for messages.
    Definitions(OTF2_Reader* reader, const std::string& archive);

    const Clock& clock() const { return m_clock; }
    /// In the order of their ranks.
    const std::vector<Process>& processes() const { return m_processes; }
    /// How many locations are no threads of a process of MPI, and their events.
    std::uint64_t other_locations() const { return m_other_locations; }
    std::uint64_t other_events() const { return m_other_events; }
    std::uint64_t all_events() const;
    const std::map<OTF2_LocationRef, Location>& locations() const { return m_locations; }

    /// All null if they are not defined.
    const Region* region(OTF2_RegionRef ref) const { return find(m_regions, ref); }
    bool has_region(std::string_view name) const;
    const Communicator* communicator(OTF2_CommRef ref) const { return find(m_communicators, ref); }
    const std::map<OTF2_CommRef, Communicator>& communicators() const { return m_communicators; }
    const Metric* metric(OTF2_MetricRef ref) const { return find(m_metrics, ref); }
    const MetricMember* member(OTF2_MetricMemberRef ref) const { return find(m_members, ref); }
    /// The communicator of a window.
    const Communicator* communicator_of_window(OTF2_RmaWinRef ref) const;
    /// The name of the file of a handle of MPI; null if it is none.
    const std::string* file(OTF2_IoHandleRef ref) const { return find(m_files, ref); }
    /// With which it was opened; OTF2_UNDEFINED_COMM if that is not told.
    OTF2_CommRef communicator_of_file(OTF2_IoHandleRef ref) const
    {
        const OTF2_CommRef* const communicator = find(m_file_communicators, ref);
        return communicator ? *communicator : OTF2_UNDEFINED_COMM;
    }
    /// The attribute with the offset of an access to a file.
    OTF2_AttributeRef offset_attribute() const { return m_offset_attribute; }
    /// Threads that a marker is of; empty if it is of more than one process.
    std::optional<OTF2_LocationRef> place_of_marker(OTF2_MarkerScope scope, std::uint64_t ref) const;

  private:
    friend struct DefinitionCallbacks;

    template <class Map, class Ref> static const typename Map::mapped_type* find(const Map& map, Ref ref)
    {
        const auto found = map.find(ref);
        return found == map.end() ? nullptr : &found->second;
    }
    struct CommunicatorDefinition {
        OTF2_StringRef name;
        std::vector<OTF2_GroupRef> groups;
    };
    std::string text(OTF2_StringRef ref) const;
    void find_processes();
    void find_hosts();
    void find_communicators();
    bool is_of_mpi(const CommunicatorDefinition& communicator) const;
    std::vector<std::int64_t> ranks_of(OTF2_GroupRef ref) const;

    std::string m_archive;
    Clock m_clock;
    std::unordered_map<OTF2_StringRef, std::string> m_texts;
    std::unordered_map<OTF2_RegionRef, Region> m_regions;
    std::map<OTF2_LocationRef, Location> m_locations;
    std::map<OTF2_LocationGroupRef, LocationGroup> m_location_groups;
    std::unordered_map<OTF2_SystemTreeNodeRef, std::pair<std::string, OTF2_SystemTreeNodeRef>> m_nodes;
    std::map<OTF2_GroupRef, Group> m_groups;
    std::optional<Group> m_world; ///< the locations that MPI was initialised in
    std::map<OTF2_CommRef, CommunicatorDefinition> m_communicator_definitions;
    std::map<OTF2_CommRef, Communicator> m_communicators;
    std::unordered_map<OTF2_RmaWinRef, OTF2_CommRef> m_windows;
    std::unordered_map<OTF2_MetricMemberRef, MetricMember> m_members;
    std::unordered_map<OTF2_MetricRef, Metric> m_metrics;
    std::unordered_map<OTF2_IoHandleRef, std::string> m_files;
    std::unordered_map<OTF2_IoHandleRef, OTF2_CommRef> m_file_communicators;
    OTF2_AttributeRef m_offset_attribute = OTF2_UNDEFINED_ATTRIBUTE;
    std::vector<Process> m_processes;
    std::uint64_t m_other_locations = 0;
    std::uint64_t m_other_events = 0;
};

} // namespace hdtrace::importer::otf2
