// What the events of an archive of OTF2 name.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <otf2/otf2.h>

#include "hdtrace/format/proj_reader.h"
#include "merger/export/otf2/errors.h"

namespace hdtrace::exporter::otf2 {

constexpr OTF2_AttributeRef offset_attribute = 0;
constexpr OTF2_AttributeRef target_offset_attribute = 1;
constexpr OTF2_AttributeRef source_attribute = 2;

/// One thread; its number is its place in the list of all.
struct LocationDefinition {
    std::int64_t rank; ///< or the number of a process without ranks
    std::int64_t thread;
    std::string process; ///< what it is called
    std::string host;
    std::uint64_t events;
};

/// Numbers for what events name, written when all are known.
class Definitions {
  public:
    /// @p project must outlive this.
    explicit Definitions(const Project& project);

    std::uint64_t process_count() const { return static_cast<std::uint64_t>(m_project.process_count); }
    /// A function of MPI or a state of the program's own, or a region of the program's own, which may be
    /// called like a function.
    struct RegionName {
        bool is_own;
        std::string name;
        auto operator<=>(const RegionName&) const = default;
    };
    /// Nothing if it has not been added.
    std::optional<OTF2_RegionRef> find_region(const RegionName& name) const;
    OTF2_RegionRef add_region(const RegionName& name);
    OTF2_CommRef communicator(const Communicator* communicator) const
    {
        return m_communicators.at(communicator);
    }
    /// A handle of a file, and how many others of it the process had when it opened it.
    struct FileHandle {
        const ProjectFile* file;
        std::size_t others;
        auto operator<=>(const FileHandle&) const = default;
    };
    /// Nothing if it has not been added; the first one of a file is always there.
    std::optional<OTF2_IoHandleRef> find_handle(const FileHandle& handle) const;
    OTF2_IoHandleRef add_handle(const FileHandle& handle);
    /// Members of the communicator open the file; null if it is not described. Any number of threads may tell
    /// it at the same time.
    void opened(const FileHandle& handle, const Communicator* communicator);
    using SourceLine = std::pair<std::string, std::int64_t>; ///< a file and a line
    /// Empty if it is not known.
    static std::optional<SourceLine> source_line(const CallSite* site);
    /// Nothing if it has not been added.
    std::optional<OTF2_SourceCodeLocationRef> find_source(const SourceLine& line) const;
    OTF2_SourceCodeLocationRef add_source(const SourceLine& line);
    /// Processes with these ranks in the world; nothing if nobody has asked group() for them.
    std::optional<OTF2_GroupRef> find_group(const std::vector<std::uint64_t>& ranks) const;
    OTF2_GroupRef group(const std::vector<std::uint64_t>& ranks);

    /// A counter of the program's own, as one thread tells it.
    struct Metric {
        OTF2_MetricRef ref;
        OTF2_Type type; ///< int64 or double
    };
    Metric metric(const std::string& counter, OTF2_LocationRef location);
    /// What the project tells of a region or a mark; null if nothing.
    const Element* region_fact(const std::string& name) const { return m_region_facts.find(name); }

    struct WindowDefinition {
        OTF2_RmaWinRef ref;
        const Communicator* communicator; ///< on which it was made
    };
    /// Null if its communicator is not described.
    const WindowDefinition* window(const Window* window) const;

    /// The members of a communicator.
    struct LocalRanks {
        std::vector<std::pair<std::int64_t, std::uint32_t>> sorted; ///< by rank in the world
        bool is_one_group = true;
        bool all_have_places = true;

        /// The rank in the communicator, or in the other group of an inter-communicator, of a rank in the
        /// world. Empty if it is not described.
        std::optional<std::uint32_t> of(std::int64_t rank) const;
        /// How many there are; empty if it has two groups, or a member has no place.
        std::optional<std::int64_t> member_count() const;
    };
    /// Any number of threads may ask at the same time, unlike for the rest.
    const LocalRanks& local_ranks(const Communicator* communicator) const;

    void write(OTF2_GlobalDefWriter* writer, const std::vector<LocationDefinition>& locations,
               std::int64_t begin, std::int64_t end);

  private:
    /// The text has to be written before what names it.
    OTF2_StringRef text(const std::string& text);
    void write_attribute(OTF2_AttributeRef ref, const std::string& name, const std::string& description,
                         OTF2_Type type = OTF2_TYPE_UINT64);
    void write_locations(const std::vector<LocationDefinition>& locations);
    void write_regions();
    void write_metrics(const std::vector<LocationDefinition>& locations);
    void write_sources();
    void write_groups(const std::vector<LocationDefinition>& locations);
    void write_communicators();
    void write_windows();
    void write_files();
    void write_handle(const FileHandle& handle, OTF2_IoHandleRef ref);
    OTF2_CommRef communicator_of_handle(const FileHandle& handle) const;
    void write_group(OTF2_GroupRef ref, OTF2_GroupType type, const std::vector<std::uint64_t>& members);
    /// One, or two of an inter-communicator.
    std::vector<OTF2_GroupRef> groups_of(const Communicator& communicator);

    const Project& m_project;
    OTF2_GlobalDefWriter* m_writer = nullptr;
    std::map<std::string, OTF2_StringRef> m_texts;
    std::map<RegionName, OTF2_RegionRef> m_regions;
    std::vector<const RegionName*> m_region_names;
    struct Counter {
        OTF2_Type type;
        OTF2_MetricRef ref;
        std::map<OTF2_LocationRef, OTF2_MetricRef> of_location;
    };
    using Counters = std::map<std::string, Counter>;
    /// In the order of their numbers, counters and what locations tell of them.
    struct DefinedMetric {
        Counters::const_iterator counter;
        std::optional<OTF2_LocationRef> location;
    };
    void write_counter(const std::string& name, const Counter& counter, OTF2_MetricMemberRef member);
    void write_instance(const Counter& counter, const Element* fact, const LocationDefinition& at,
                        OTF2_LocationRef location);
    Counters m_counters;
    std::vector<DefinedMetric> m_metrics;
    FactsByName m_region_facts, m_counter_facts;
    std::vector<OTF2_SystemTreeNodeRef> m_nodes; ///< of the locations
    std::map<SourceLine, OTF2_SourceCodeLocationRef> m_sources;
    std::vector<const SourceLine*> m_source_lines; ///< of each of them
    std::unordered_map<const Communicator*, OTF2_CommRef> m_communicators;
    std::unordered_map<const ProjectFile*, OTF2_IoHandleRef> m_files; ///< and their first handles
    std::map<FileHandle, OTF2_IoHandleRef> m_more_handles;
    std::mutex m_opened_with_mutex;
    /// Null if it is not always the same one.
    std::map<FileHandle, const Communicator*> m_opened_with;
    std::unordered_map<const Window*, WindowDefinition> m_windows;
    std::map<std::vector<std::uint64_t>, OTF2_GroupRef> m_groups;
    std::vector<const std::vector<std::uint64_t>*> m_members; ///< of each of them, from number 1 on
    mutable std::mutex m_local_ranks_mutex;
    mutable std::unordered_map<const Communicator*, LocalRanks> m_local_ranks; ///< of those asked for
};

} // namespace hdtrace::exporter::otf2
