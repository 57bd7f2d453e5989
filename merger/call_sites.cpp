#include "merger/call_sites.h"

#include "merger/debug_information.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace hdtrace::merger {

namespace {

std::uint64_t mixed(std::uint64_t hash, std::int64_t number)
{
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15; // 2^64 divided by the golden ratio
    hash = (hash ^ static_cast<std::uint64_t>(number)) * spread;
    return hash ^ hash >> 32;
}

template <class Key, class Hash> std::vector<Key> in_order(std::unordered_map<Key, std::int64_t, Hash>& index)
{
    std::vector<Key> keys(index.size());
    while (!index.empty()) {
        auto entry = index.extract(index.begin());
        keys[static_cast<std::size_t>(entry.mapped())] = std::move(entry.key());
    }
    return keys;
}

/// Their numbers by their offsets.
using FramesOfObject = std::map<std::int64_t, std::size_t>;

std::vector<FramesOfObject> by_object(const MergedCallSites& call_sites)
{
    std::vector<FramesOfObject> frames(call_sites.object_files.size());
    for (std::size_t i = 0; i < call_sites.frames.size(); ++i) {
        const SiteFrame& frame = call_sites.frames[i];
        if (frame.is_in_object())
            frames[static_cast<std::size_t>(frame.object)].emplace(frame.offset, i);
    }
    return frames;
}

std::vector<std::int64_t> offsets_of(const FramesOfObject& frames)
{
    std::vector<std::int64_t> offsets;
    for (const auto& frame : frames)
        offsets.push_back(frame.first);
    return offsets;
}

void add_places(MergedCallSites& call_sites, const FramesOfObject& frames, const UsedObject& object)
{
    for (auto& [offset, places] : find_source_places(object, offsets_of(frames)))
        call_sites.places[frames.at(offset)] = std::move(places);
}

void add_variables(MergedCallSites& call_sites, std::size_t object_file, const FramesOfObject& frames,
                   const UsedObject& object)
{
    for (auto& [offset, variables] : find_stack_variables(object, offsets_of(frames)))
        call_sites.variables[frames.at(offset)] = std::move(variables);
    call_sites.object_files[object_file].variables = find_static_variables(object);
}

} // namespace

std::size_t CallSiteUnifier::Hash::operator()(const SiteFrame& frame) const
{
    return mixed(mixed(0, frame.object), frame.offset);
}

std::size_t CallSiteUnifier::Hash::operator()(const Numbers& numbers) const
{
    return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0}, mixed);
}

void CallSiteUnifier::add(std::int64_t rank, const ProcessInfo& info)
{
    const Positions object_files = add_object_files(info), source_lines = add_source_lines(info);
    m_wants_variables = m_wants_variables || info.run.is_for_check();
    std::vector<SiteRun> runs;
    for (const auto& [id, record] : info.call_sites) {
        const std::int64_t site = add_site(record, object_files, source_lines);
        SiteRun* const last = runs.empty() ? nullptr : &runs.back();
        if (last && last->id + last->count == id && last->site + last->count == site)
            ++last->count;
        else
            runs.push_back({id, site, 1});
    }
    if (!runs.empty())
        add_ids(rank, runs);
}

CallSiteUnifier::Positions CallSiteUnifier::add_object_files(const ProcessInfo& info)
{
    Positions positions;
    for (const auto& [id, record] : info.object_files) {
        const std::string key = record.build_id.empty() ? "path " + record.path : record.build_id;
        const auto [known, is_new] = m_object_file_positions.try_emplace(key, std::ssize(m_object_files));
        if (is_new)
            m_object_files.push_back({record.place, record.path, record.build_id,
                                      info.process ? info.process->time_adjustment : 0});
        positions.emplace(id, known->second);
    }
    return positions;
}

CallSiteUnifier::Positions CallSiteUnifier::add_source_lines(const ProcessInfo& info)
{
    Positions positions;
    for (const auto& [id, record] : info.source_lines)
        positions.emplace(id,
                          m_source_lines.try_emplace(record.where, std::ssize(m_source_lines)).first->second);
    return positions;
}

std::int64_t CallSiteUnifier::add_site(const CallSiteRecord& record, const Positions& object_files,
                                       const Positions& source_lines)
{
    Numbers site;
    for (SiteFrame frame : record.frames) {
        if (frame.is_in_object())
            frame.object = object_files.at(frame.object);
        else if (frame.object == SiteFrame::source_line)
            frame.offset = source_lines.at(frame.offset);
        site.push_back(m_frames.try_emplace(frame, std::ssize(m_frames)).first->second);
    }
    return m_sites.try_emplace(std::move(site), std::ssize(m_sites)).first->second;
}

void CallSiteUnifier::add_ids(std::int64_t rank, const std::vector<SiteRun>& runs)
{
    const auto [known, is_new] = m_numberings.try_emplace(runs, m_ids.size());
    if (is_new)
        m_ids.push_back({runs, {}});
    std::vector<SiteIds::Ranks>& ranks = m_ids[known->second].ranks;
    if (!ranks.empty() && ranks.back().last + 1 == rank)
        ranks.back().last = rank;
    else
        ranks.push_back({rank, rank});
}

MergedCallSites CallSiteUnifier::take()
{
    MergedCallSites merged;
    merged.object_files = std::move(m_object_files);
    merged.frames = in_order(m_frames);
    merged.sites = in_order(m_sites);
    merged.ids = std::move(m_ids);
    merged.places.resize(merged.frames.size());
    merged.wants_variables = m_wants_variables;
    merged.variables.resize(merged.frames.size());
    std::vector<SourcePlace> lines(m_source_lines.size());
    for (const auto& [line, number] : m_source_lines)
        lines[static_cast<std::size_t>(number)] = line;
    for (std::size_t i = 0; i < merged.frames.size(); ++i) {
        if (merged.frames[i].object == SiteFrame::source_line)
            merged.places[i] = {lines[static_cast<std::size_t>(merged.frames[i].offset)]};
    }
    return merged;
}

void add_source_places(MergedCallSites& call_sites, const std::string& debug_directory, Report& report)
{
    const std::vector<FramesOfObject> frames = by_object(call_sites);
    for (std::size_t i = 0; i < frames.size(); ++i) {
        report.progress("looking up calls in the source", i, frames.size());
        if (frames[i].empty())
            continue;
        const MergedObjectFile& file = call_sites.object_files[i];
        std::string unknown = "lines of calls";
        try {
            const UsedObject object({file.path, file.build_id, file.used_from}, debug_directory);
            add_places(call_sites, frames[i], object);
            unknown = "variables";
            if (call_sites.wants_variables)
                add_variables(call_sites, i, frames[i], object);
        } catch (const std::runtime_error& error) {
            report.warn(Topic::unusable_object_files, file.place,
                        "the " + unknown + " in " + file.path + " are not known: " + error.what());
        }
    }
}

} // namespace hdtrace::merger
