// What the events of one process name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "merger/export/otf2/definitions.h"
#include "merger/export/otf2/turns.h"

namespace hdtrace::exporter::otf2 {

/// The definitions that all processes share, for one of them. What it has asked for once it knows by itself;
/// what is new it may have to wait for.
class ProcessDefinitions {
  public:
    /// Both must outlive this. @p process: its place among all.
    ProcessDefinitions(Definitions& all, Turns& turns, std::size_t process)
        : m_all(all), m_turns(turns), m_process(process)
    {
    }

    std::uint64_t process_count() const { return m_all.process_count(); }
    /// A function of MPI or a state of the program's own...
    OTF2_RegionRef function(std::string_view name) { return region(m_functions, false, name); }
    /// ... or a region of the program's own, which may be called like a function.
    OTF2_RegionRef own_region(std::string_view name) { return region(m_own_regions, true, name); }
    OTF2_CommRef communicator(const Communicator* communicator) const
    {
        return m_all.communicator(communicator);
    }
    OTF2_IoHandleRef handle(const Definitions::FileHandle& handle);
    /// As Definitions has it.
    void opened(const Definitions::FileHandle& handle, const Communicator* communicator)
    {
        m_all.opened(handle, communicator);
    }
    /// Null if its communicator is not described.
    const Definitions::WindowDefinition* window(const Window* window) const { return m_all.window(window); }
    /// Empty if its file and line are not known.
    std::optional<OTF2_SourceCodeLocationRef> source(const CallSite* site);
    /// Processes with these ranks in the world.
    OTF2_GroupRef group(const std::vector<std::uint64_t>& ranks);
    Definitions::Metric metric(const std::string& counter, OTF2_LocationRef location);

    /// As Definitions::LocalRanks has them; empty without a communicator.
    std::optional<std::uint32_t> local_rank(const Communicator* communicator, std::int64_t rank);
    std::optional<std::int64_t> member_count(const Communicator* communicator);
    bool is_between_groups(const Communicator* communicator);

    /// Calls @p work when all processes before this one have finished.
    void when_others_have_finished(auto work)
    {
        m_turns.get(
            m_process, [] { return std::optional<bool>(); },
            [&] {
                work();
                return true;
            });
    }

  private:
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    using Regions = std::unordered_map<std::string, OTF2_RegionRef, Hash, std::equal_to<>>;

    OTF2_RegionRef region(Regions& known, bool is_own, std::string_view name);
    const Definitions::LocalRanks& local_ranks(const Communicator* communicator);

    Definitions& m_all;
    Turns& m_turns;
    std::size_t m_process;
    Regions m_functions, m_own_regions;
    std::unordered_map<const CallSite*, std::optional<OTF2_SourceCodeLocationRef>> m_sources;
    std::map<std::pair<std::string, OTF2_LocationRef>, Definitions::Metric> m_metrics;
    std::map<Definitions::FileHandle, OTF2_IoHandleRef> m_handles;
    std::unordered_map<const Communicator*, const Definitions::LocalRanks*> m_local_ranks;
};

} // namespace hdtrace::exporter::otf2
