#include "merger/export/otf2/process_definitions.h"

namespace hdtrace::exporter::otf2 {

OTF2_IoHandleRef ProcessDefinitions::handle(const Definitions::FileHandle& handle)
{
    const auto [place, is_new] = m_handles.try_emplace(handle);
    if (is_new && handle.others == 0)
        place->second = *m_all.find_handle(handle);
    else if (is_new)
        place->second = m_turns.get(
            m_process, [&] { return m_all.find_handle(handle); }, [&] { return m_all.add_handle(handle); });
    return place->second;
}

OTF2_RegionRef ProcessDefinitions::region(Regions& known, bool is_own, std::string_view name)
{
    if (const auto found = known.find(name); found != known.end())
        return found->second;
    const Definitions::RegionName key{is_own, std::string(name)};
    const OTF2_RegionRef ref = m_turns.get(
        m_process, [&] { return m_all.find_region(key); }, [&] { return m_all.add_region(key); });
    known.emplace(name, ref);
    return ref;
}

std::optional<OTF2_SourceCodeLocationRef> ProcessDefinitions::source(const CallSite* site)
{
    const auto [place, is_new] = m_sources.try_emplace(site);
    const auto line = is_new ? Definitions::source_line(site) : std::nullopt;
    if (line)
        place->second = m_turns.get(
            m_process, [&] { return m_all.find_source(*line); }, [&] { return m_all.add_source(*line); });
    return place->second;
}

OTF2_GroupRef ProcessDefinitions::group(const std::vector<std::uint64_t>& ranks)
{
    return m_turns.get(
        m_process, [&] { return m_all.find_group(ranks); }, [&] { return m_all.group(ranks); });
}

Definitions::Metric ProcessDefinitions::metric(const std::string& counter, OTF2_LocationRef location)
{
    const auto found = m_metrics.find({counter, location});
    if (found != m_metrics.end())
        return found->second;
    Definitions::Metric metric{};
    when_others_have_finished([&] { metric = m_all.metric(counter, location); });
    m_metrics[{counter, location}] = metric;
    return metric;
}

const Definitions::LocalRanks& ProcessDefinitions::local_ranks(const Communicator* communicator)
{
    const auto [place, is_new] = m_local_ranks.try_emplace(communicator);
    if (is_new)
        place->second = &m_all.local_ranks(communicator);
    return *place->second;
}

std::optional<std::uint32_t> ProcessDefinitions::local_rank(const Communicator* communicator,
                                                            std::int64_t rank)
{
    return communicator == nullptr ? std::nullopt : local_ranks(communicator).of(rank);
}

std::optional<std::int64_t> ProcessDefinitions::member_count(const Communicator* communicator)
{
    return communicator == nullptr ? std::nullopt : local_ranks(communicator).member_count();
}

bool ProcessDefinitions::is_between_groups(const Communicator* communicator)
{
    return communicator != nullptr && !local_ranks(communicator).is_one_group;
}

} // namespace hdtrace::exporter::otf2
