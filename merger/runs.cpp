#include "merger/runs.h"

#include "hdtrace/format/errors.h"
#include "hdtrace/format/info.h"
#include "merger/trace_name.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace hdtrace::merger {

namespace {

/// What decides to which run a file belongs.
struct Member {
    InfoInput input;
    std::optional<TraceName> name;
    std::string launch; ///< empty if unknown
    std::string world;
    std::int64_t size = 0; ///< of the world; 0 if unknown

    const std::string& path() const { return input.info.empty() ? input.traces.front() : input.info; }
    std::string base() const { return name ? name->directory + name->base : std::string(); }
    std::int64_t rank() const { return name ? label_number(name->labels[1]).value_or(-1) : -1; }
};

/// The first line tells it. Whoever reads the file later says what is wrong with it.
void read_first_line(Member& member)
{
    try {
        InfoReader reader(member.input.info);
        InfoLine line;
        if (!reader.next(line) || line.kind() != "Process")
            return;
        member.launch = launch_of(line.text_or("run", ""));
        member.world = line.text_or("world", "");
        member.size = label_number(line.text_or("size", "")).value_or(0);
    } catch (const ReadError&) {
    } catch (const OpenError&) {
    }
}

std::vector<Member> members_of(std::vector<InfoInput> inputs)
{
    std::vector<Member> members;
    members.reserve(inputs.size());
    for (InfoInput& input : inputs) {
        Member member;
        member.input = std::move(input);
        member.name = split_trace_name(member.path(), mpi_levels.size());
        if (!member.input.info.empty())
            read_first_line(member);
        members.push_back(std::move(member));
    }
    return members;
}

using WorldRank = std::pair<std::string, std::int64_t>; ///< the rank in this world

WorldRank world_rank_of(const Member& member)
{
    return {member.world, member.rank()};
}

/// Whether they are all processes of a world, and no others.
bool are_a_world(const std::vector<const Member*>& members)
{
    const auto size = static_cast<std::int64_t>(members.size());
    std::set<WorldRank> ranks;
    for (const Member* member : members) {
        ranks.insert(world_rank_of(*member));
        if (member->size != size || member->world != members.front()->world || member->rank() >= size)
            return false;
    }
    return ranks.size() == members.size();
}

/// A process may have been killed before it could tell, and some launchers tell nothing. Files with a name of
/// their own are of a run of their own if they are whole, and others have their ranks.
void complete_launches(std::vector<Member>& members)
{
    std::map<std::string, std::string> launch_of_base;
    std::map<std::string, std::set<WorldRank>> taken; // by launch
    std::string first;
    for (const Member& member : members) {
        if (member.launch.empty())
            continue;
        launch_of_base.try_emplace(member.base(), member.launch);
        taken[member.launch].insert(world_rank_of(member));
        if (first.empty())
            first = member.launch;
    }
    std::map<std::string, std::vector<const Member*>> without; // by base
    for (const Member& member : members)
        if (member.launch.empty() && !launch_of_base.contains(member.base()))
            without[member.base()].push_back(&member);
    for (const auto& [base, of_base] : without) {
        const bool has_others = std::ranges::any_of(
            of_base, [&](const Member* member) { return taken[first].contains(world_rank_of(*member)); });
        const std::string& launch = has_others && are_a_world(of_base) ? base : first;
        launch_of_base[base] = launch;
        for (const Member* member : of_base)
            taken[launch].insert(world_rank_of(*member));
    }
    for (Member& member : members)
        if (member.launch.empty())
            member.launch = launch_of_base.at(member.base());
}

using Group = std::vector<Member>;

/// By launch, in the order of the first member of each.
std::vector<Group> groups_of(std::vector<Member> members)
{
    std::vector<Group> groups;
    std::map<std::string, std::size_t> group_of_launch;
    for (Member& member : members) {
        const auto [place, is_new] = group_of_launch.try_emplace(member.launch, groups.size());
        if (is_new)
            groups.emplace_back();
        groups[place->second].push_back(std::move(member));
    }
    return groups;
}

using FileKey = std::pair<std::string, std::int64_t>; ///< base and rank

/// Which files of a group would be there if nobody had replaced them. Of a world it is known how large it is,
/// but not which program the processes ran that have left nothing: it may be any of them.
std::set<FileKey> missing_files(const Group& group)
{
    struct World {
        std::int64_t size = 0;
        std::set<std::int64_t> ranks;
        std::set<std::string> bases;
    };
    std::map<std::string, World> worlds;
    for (const Member& member : group) {
        World& world = worlds[member.world];
        world.size = std::max(world.size, member.size);
        world.ranks.insert(member.rank());
        world.bases.insert(member.base());
    }
    std::set<FileKey> missing;
    for (const auto& [uid, world] : worlds) {
        constexpr std::int64_t most = 10'000'000; // a file may say anything
        for (std::int64_t rank = 0; rank < std::min(world.size, most); ++rank) {
            if (world.ranks.contains(rank))
                continue;
            for (const std::string& base : world.bases)
                missing.emplace(base, rank);
        }
    }
    return missing;
}

bool has_lost_files_to_another(std::size_t own, const std::vector<Group>& groups,
                               const std::map<FileKey, std::size_t>& group_of_file)
{
    return std::ranges::any_of(missing_files(groups[own]), [&](const FileKey& file) {
        const auto found = group_of_file.find(file);
        return found != group_of_file.end() && found->second != own;
    });
}

std::vector<InfoInput> inputs_of(std::vector<Group> groups)
{
    std::vector<InfoInput> inputs;
    for (Group& group : groups) {
        for (Member& member : group)
            inputs.push_back(std::move(member.input));
    }
    return inputs;
}

} // namespace

std::string launch_of(const std::string& run)
{
    constexpr std::int64_t jobs = std::int64_t{1} << 16;
    if (const auto number = label_number(run)) // of Open MPI 4, launch and job in one
        return std::to_string(*number / jobs);
    return run.substr(0, run.find('@')); // of Open MPI 5 and others: LAUNCH@JOB
}

Runs by_run(std::vector<InfoInput> inputs)
{
    std::vector<Member> members = members_of(std::move(inputs));
    complete_launches(members);
    std::vector<Group> groups = groups_of(std::move(members));
    std::map<FileKey, std::size_t> group_of_file;
    for (std::size_t i = 0; groups.size() > 1 && i < groups.size(); ++i) {
        for (const Member& member : groups[i])
            group_of_file.emplace(FileKey(member.base(), member.rank()), i);
    }
    std::vector<bool> is_rest;
    for (std::size_t i = 0; i < groups.size(); ++i)
        is_rest.push_back(groups.size() > 1 && has_lost_files_to_another(i, groups, group_of_file));
    const bool is_any_whole = std::ranges::find(is_rest, false) != is_rest.end();
    if (!is_any_whole) // they were mixed: whoever unifies them says so
        return {.all = {inputs_of(std::move(groups))}, .remains = {}};
    Runs runs;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (is_rest[i])
            std::ranges::transform(groups[i], std::back_inserter(runs.remains), &Member::path);
        else
            runs.all.push_back(inputs_of({std::move(groups[i])}));
    }
    return runs;
}

std::string list_of(const Runs& runs)
{
    constexpr std::size_t most = 5;
    std::string text;
    for (std::size_t i = 0; i < std::min(runs.all.size(), most); ++i) {
        const InfoInput& first = runs.all[i].front();
        text += (i == 0 ? "" : ", ") + (first.info.empty() ? first.traces.front() : first.info) + " (" +
                std::to_string(runs.all[i].size()) + (runs.all[i].size() == 1 ? " process)" : " processes)");
    }
    return text + (runs.all.size() > most ? ", ..." : "");
}

void warn_of_remains(const Runs& runs, Report& report)
{
    for (const std::string& path : runs.remains)
        report.warn(Topic::left_out_files, {path},
                    "this is of an earlier run, of which other files were replaced; it is left out");
}

} // namespace hdtrace::merger
