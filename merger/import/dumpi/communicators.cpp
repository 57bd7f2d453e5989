#include "merger/import/dumpi/communicators.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hdtrace::importer::dumpi {

using namespace hdtrace::dumpi;

namespace {

constexpr std::string_view makers[] = {"Comm_dup",     "Comm_create", "Comm_split",       "Cart_create",
                                       "Graph_create", "Cart_sub",    "Intercomm_create", "Intercomm_merge"};

/// The argument that a call of these is made on.
std::int64_t parent_of(const Record& record)
{
    for (const std::string_view name : {"oldcomm", "localcomm", "comm"})
        if (const Value* value = record.find(name))
            return value->number;
    return 0;
}

/// The result of a call, if it is a communicator or a group.
const Value* made_by(const Record& record, Code code)
{
    const auto found = std::ranges::find_if(record.values, [&](const Value& value) {
        return value.argument->is_result && value.argument->code == code;
    });
    return found == record.values.end() ? nullptr : &*found;
}

Ranks numbers(const Record& record, std::string_view name)
{
    const Value* value = record.find(name);
    return value == nullptr ? Ranks() : value->numbers;
}

std::int64_t product(const Ranks& dimensions)
{
    std::int64_t product = 1;
    for (const std::int64_t dimension : dimensions)
        if (dimension < 1 || __builtin_mul_overflow(product, dimension, &product))
            return 0;
    return product;
}

/// Where a process is in the dimensions that remain, and in those that do not, of a grid in the order of C.
std::pair<std::int64_t, std::int64_t> parts_of(std::int64_t rank, const Ranks& dimensions,
                                               const Ranks& remain)
{
    std::int64_t inside = 0, outside = 0;
    std::int64_t weight = product(dimensions);
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        weight /= dimensions[i];
        const std::int64_t place = rank / weight % dimensions[i];
        std::int64_t& part = i < remain.size() && remain[i] != 0 ? inside : outside;
        part = part * dimensions[i] + place;
    }
    return {inside, outside};
}

std::optional<Ranks> combined(std::string_view function, const Ranks& first,
                              const std::optional<Ranks>& second)
{
    if (!second)
        return std::nullopt;
    const auto is_in = [](const Ranks& ranks, std::int64_t rank) {
        return std::ranges::find(ranks, rank) != ranks.end();
    };
    Ranks made;
    for (const std::int64_t rank : first)
        if (function == "Group_union" || is_in(*second, rank) == (function == "Group_intersection"))
            made.push_back(rank);
    for (const std::int64_t rank : *second)
        if (function == "Group_union" && !is_in(first, rank))
            made.push_back(rank);
    return made;
}

/// Some of a group, or all but some; nothing if it has not so many.
std::optional<Ranks> chosen(std::string_view function, const Ranks& group, Ranks places,
                            const std::vector<Ranks>& ranges)
{
    const auto size = static_cast<std::int64_t>(group.size());
    for (const Ranks& range : ranges) {
        if (range.size() != 3 || range[2] == 0)
            return std::nullopt;
        for (std::int64_t place = range[0]; range[2] > 0 ? place <= range[1] : place >= range[1];
             place += range[2]) {
            if (place < 0 || place >= size)
                return std::nullopt;
            places.push_back(place);
        }
    }
    Ranks made;
    if (function.ends_with("_excl")) {
        for (std::int64_t place = 0; place < size; ++place)
            if (std::ranges::find(places, place) == places.end())
                made.push_back(group[static_cast<std::size_t>(place)]);
        return made;
    }
    for (const std::int64_t place : places) {
        if (place < 0 || place >= size)
            return std::nullopt;
        made.push_back(group[static_cast<std::size_t>(place)]);
    }
    return made;
}

} // namespace

const Ranks& RunCommunicator::group_of(std::int64_t rank) const
{
    return others.empty() || std::ranges::find(members, rank) != members.end() ? members : others;
}

const Ranks& RunCommunicator::peers_of(std::int64_t rank) const
{
    return others.empty() ? members : &group_of(rank) == &members ? others : members;
}

// --- what a process calls them ---

ProcessNames::ProcessNames() : m_communicators{{world, 0}, {self, 1}} {}

/// Of some nothing tells who made them.
void ProcessNames::before(const Record& record)
{
    for (const Value& value : record.values)
        if (value.argument->code == Code::communicator && !value.argument->is_result && value.number >= world)
            if (m_communicators.try_emplace(value.number, m_communicator_count).second)
                ++m_communicator_count;
}

void ProcessNames::after(const Record& record)
{
    if (const Value* made = made_by(record, Code::communicator);
        made != nullptr && made->number >= first_communicator)
        m_communicators[made->number] = m_communicator_count++;
    if (const Value* made = made_by(record, Code::group); made != nullptr && made->number > empty_group)
        m_groups[made->number] = m_group_count++;
    if (record.function->name == "Win_create")
        m_windows[record.number("win")] = communicator(record.number("comm"));
    if (record.function->name == "File_open")
        m_files[record.number("file")] = communicator(record.number("comm"));
}

std::size_t ProcessNames::communicator_of(const Record& record) const
{
    const bool is_window = record.find("win") != nullptr;
    const auto& known = is_window ? m_windows : m_files;
    const auto found = known.find(record.number(is_window ? "win" : "file"));
    return found == known.end() ? unknown : found->second;
}

std::size_t ProcessNames::communicator(std::int64_t number) const
{
    const auto found = m_communicators.find(number);
    return found == m_communicators.end() ? unknown : found->second;
}

std::size_t ProcessNames::group(std::int64_t number) const
{
    const auto found = m_groups.find(number);
    return found == m_groups.end() ? unknown : found->second;
}

// --- what all processes did ---

RunCommunicators::RunCommunicators(std::int64_t processes) : m_processes(static_cast<std::size_t>(processes))
{
    RunCommunicator everyone;
    everyone.uid = "W";
    everyone.members.resize(static_cast<std::size_t>(processes));
    std::iota(everyone.members.begin(), everyone.members.end(), 0);
    m_found.push_back(std::move(everyone));
    m_local.emplace_back();
    for (std::int64_t rank = 0; rank < processes; ++rank) {
        m_local[0][rank] = 0;
        m_found.push_back({.uid = "S" + std::to_string(rank), .members = {rank}});
        m_local.push_back({{rank, 1}});
    }
    for (std::size_t i = 0; i < m_found.size(); ++i)
        m_new.push_back(i);
}

void RunCommunicators::begin_process(std::int64_t rank)
{
    m_process = &m_processes.at(static_cast<std::size_t>(rank));
}

void RunCommunicators::see(const Record& record)
{
    if (record.function == nullptr)
        return;
    Process& process = *m_process;
    process.names.before(record);
    Making making{.function = record.function->name};
    const bool makes = std::ranges::find(makers, making.function) != std::end(makers);
    std::size_t parent = ProcessNames::unknown;
    if (makes) { // names are those before the call
        parent = process.names.communicator(parent_of(record));
        making.color = record.number("color");
        making.key = record.number("key", record.number("high"));
        making.group = process.names.group(record.number("group"));
        making.dimensions = numbers(record, record.find("dims") != nullptr ? "dims" : "remain_dims");
        if (making.function == "Graph_create")
            making.dimensions = {record.number("nodes")};
        making.local_leader = record.number("localleader");
        making.remote_leader = record.number("remoteleader");
        making.tag = record.number("tag");
        if (const Value* peer = record.find("remotecomm"))
            making.peer = process.names.communicator(peer->number);
    }
    see_group(process, record);
    process.names.after(record);
    if (!makes || parent == ProcessNames::unknown)
        return;
    const Value* made = made_by(record, Code::communicator);
    if (made != nullptr && made->number >= first_communicator)
        making.made = process.names.communicator(made->number);
    process.makings[parent].push_back(std::move(making));
}

void RunCommunicators::see_group(Process& process, const Record& record)
{
    const Value* made = made_by(record, Code::group);
    if (made == nullptr || made->number <= empty_group)
        return;
    GroupMaking making{.function = record.function->name};
    if (record.find("comm") != nullptr)
        making.first = process.names.communicator(record.number("comm"));
    else if (record.find("group1") != nullptr) {
        making.first = process.names.group(record.number("group1"));
        making.second = process.names.group(record.number("group2"));
    } else if (record.find("win") != nullptr || record.find("file") != nullptr) {
        making.first = process.names.communicator_of(record);
    } else {
        making.first = process.names.group(record.number("group"));
    }
    making.ranks = numbers(record, "ranks");
    if (const Value* ranges = record.find("ranges"))
        making.ranges = ranges->rows;
    process.groups.push_back(std::move(making));
}

void RunCommunicators::find_all()
{
    for (Process& process : m_processes)
        process.found.assign(process.names.communicator_count(), ProcessNames::unknown);
    for (std::size_t i = 0; i < m_found.size(); ++i)
        for (const auto& [rank, local] : m_local[i])
            m_processes[static_cast<std::size_t>(rank)].found[local] = i;
    do {
        while (!m_new.empty()) {
            const std::size_t parent = m_new.back();
            m_new.pop_back();
            make_on(parent);
        }
    } while (join_sides());
}

RunCommunicator* RunCommunicators::find(std::int64_t rank, std::size_t communicator)
{
    const auto& found = m_processes.at(static_cast<std::size_t>(rank)).found;
    if (communicator >= found.size() || found[communicator] == ProcessNames::unknown)
        return nullptr;
    return &m_found[found[communicator]];
}

void RunCommunicators::make_on(std::size_t parent)
{
    for (std::size_t turn = 0; make(parent, turn);)
        ++turn;
}

/// False if not all members have made so many calls, or they did not make the same.
bool RunCommunicators::make(std::size_t parent, std::size_t turn)
{
    const RunCommunicator& old = m_found[parent];
    std::vector<const Making*> calls;
    for (const Ranks* group : {&old.members, &old.others})
        for (const std::int64_t rank : *group) {
            const Making* call = making(rank, parent, turn);
            if (call == nullptr || (!calls.empty() && call->function != calls.front()->function))
                return false;
            calls.push_back(call);
        }
    const std::string_view function = calls.front()->function;
    if (function == "Comm_dup")
        add({.members = old.members, .others = old.others, .dimensions = old.dimensions}, {{parent, turn}});
    else if (function == "Intercomm_create" && old.others.empty())
        m_sides.push_back({parent, turn});
    else if (function == "Intercomm_merge" && !old.others.empty())
        merge(old, *calls.front(), *calls.back(), {parent, turn});
    else if (old.others.empty())
        divide(old, calls, {parent, turn});
    return true;
}

/// Null if the process did not make so many calls on the communicator.
const RunCommunicators::Making* RunCommunicators::making(std::int64_t rank, std::size_t parent,
                                                         std::size_t turn) const
{
    const auto& makings = m_processes[static_cast<std::size_t>(rank)].makings;
    const auto local = m_local[parent].find(rank);
    const auto found = local == m_local[parent].end() ? makings.end() : makings.find(local->second);
    return found == makings.end() || found->second.size() <= turn ? nullptr : &found->second[turn];
}

/// The group that is not high comes first; if both are or none is, nothing tells.
void RunCommunicators::merge(const RunCommunicator& old, const Making& first, const Making& last,
                             const Side& where)
{
    const bool first_is_behind = first.key != 0 && last.key == 0;
    RunCommunicator made{.members = first_is_behind ? old.others : old.members};
    const Ranks& behind = first_is_behind ? old.members : old.others;
    made.members.insert(made.members.end(), behind.begin(), behind.end());
    add(std::move(made), {where});
}

/// The members of a communicator become those of several, or some of them those of one.
void RunCommunicators::divide(const RunCommunicator& old, const std::vector<const Making*>& calls,
                              const Side& where)
{
    const Making& first = *calls.front();
    const Ranks dimensions = old.dimensions;
    if (first.function == "Cart_sub" && product(dimensions) != static_cast<std::int64_t>(calls.size()))
        return; // nothing tells the grid
    const bool is_topology = first.function == "Cart_create" || first.function == "Graph_create";
    const std::int64_t most =
        is_topology ? product(first.dimensions) : static_cast<std::int64_t>(calls.size());
    std::map<std::int64_t, std::vector<std::pair<std::int64_t, std::size_t>>>
        parts; // by color, or the group's first rank, the order and the place
    const auto places =
        first.function == "Comm_create" ? places_in_groups(old, calls) : std::map<std::int64_t, GroupPlace>();
    for (std::size_t i = 0; i < calls.size() && static_cast<std::int64_t>(i) < most; ++i) {
        const auto place = static_cast<std::int64_t>(i);
        if (calls[i]->made == ProcessNames::unknown)
            continue;
        if (first.function == "Comm_split") {
            parts[calls[i]->color].emplace_back(calls[i]->key, i);
        } else if (first.function == "Cart_sub") {
            const auto [inside, outside] = parts_of(place, dimensions, first.dimensions);
            parts[outside].emplace_back(inside, i);
        } else if (!places.empty()) {
            if (const auto found = places.find(old.members[i]); found != places.end())
                parts[found->second.first].emplace_back(found->second.place, i);
        } else {
            parts[0].emplace_back(place, i);
        }
    }
    const Ranks members = old.members;
    for (auto& [color, part] : parts) {
        std::ranges::sort(part);
        RunCommunicator made;
        for (const auto& [order, i] : part)
            made.members.push_back(members[i]);
        if (first.function == "Cart_create")
            made.dimensions = first.dimensions;
        for (std::size_t i = 0; first.function == "Cart_sub" && i < dimensions.size(); ++i)
            if (i < first.dimensions.size() && first.dimensions[i] != 0)
                made.dimensions.push_back(dimensions[i]);
        add(std::move(made), {where});
    }
}

/// Members may give different groups, which have no member in common (MPI 2.2, 6.4.2). Each group is asked of
/// the first of its members.
std::map<std::int64_t, RunCommunicators::GroupPlace>
RunCommunicators::places_in_groups(const RunCommunicator& old, const std::vector<const Making*>& calls)
{
    std::map<std::int64_t, GroupPlace> places;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (calls[i]->made == ProcessNames::unknown || places.contains(old.members[i]))
            continue;
        const Ranks ranks = group(old.members[i], calls[i]->group).value_or(Ranks());
        for (std::size_t place = 0; place < ranks.size(); ++place)
            places.try_emplace(ranks[place], GroupPlace{ranks.front(), static_cast<std::int64_t>(place)});
    }
    return places;
}

/// @p sides: the calls that have made it.
void RunCommunicators::add(RunCommunicator made, const std::vector<Side>& sides)
{
    const std::size_t number = m_found.size();
    made.uid = "D" + std::to_string(number);
    std::map<std::int64_t, std::size_t> local;
    for (const Side& side : sides)
        for (const Ranks* group : {&made.members, &made.others})
            for (const std::int64_t rank : *group) {
                const Making* call = making(rank, side.parent, side.turn);
                if (call == nullptr || call->made == ProcessNames::unknown)
                    continue;
                local[rank] = call->made;
                m_processes[static_cast<std::size_t>(rank)].found[call->made] = number;
            }
    m_found.push_back(std::move(made));
    m_local.push_back(std::move(local));
    m_new.push_back(number);
}

// --- inter-communicators ---

/// The rank in the world of the leader, and of whom it means by the leader of the other side.
std::optional<std::int64_t> RunCommunicators::leader(const Side& side) const
{
    const Ranks& members = m_found[side.parent].members;
    const std::int64_t leader = making(members.front(), side.parent, side.turn)->local_leader;
    return leader < 0 || leader >= static_cast<std::int64_t>(members.size())
               ? std::nullopt
               : std::optional(members[static_cast<std::size_t>(leader)]);
}

std::optional<std::int64_t> RunCommunicators::remote_leader(const Side& side) const
{
    const auto mine = leader(side);
    if (!mine)
        return std::nullopt;
    const Making& call = *making(*mine, side.parent, side.turn);
    const auto& found = m_processes[static_cast<std::size_t>(*mine)].found;
    if (call.peer >= found.size() || found[call.peer] == ProcessNames::unknown)
        return std::nullopt;
    const RunCommunicator& peer = m_found[found[call.peer]];
    const Ranks& ranks = peer.peers_of(*mine);
    return call.remote_leader < 0 || call.remote_leader >= static_cast<std::int64_t>(ranks.size())
               ? std::nullopt
               : std::optional(ranks[static_cast<std::size_t>(call.remote_leader)]);
}

/// Both leaders mean each other, with the same tag. True if there is a new communicator.
bool RunCommunicators::join_sides()
{
    bool has_joined = false;
    std::vector<Side> left;
    for (const Side& side : std::exchange(m_sides, {})) {
        const auto mine = leader(side), other = remote_leader(side);
        if (!mine || !other) { // perhaps when more communicators are known
            left.push_back(side);
            continue;
        }
        const std::int64_t tag = making(*mine, side.parent, side.turn)->tag;
        std::deque<Side>& waiting = m_waiting[{*other, *mine, tag}];
        if (waiting.empty()) {
            m_waiting[{*mine, *other, tag}].push_back(side);
            continue;
        }
        const Side first = waiting.front();
        waiting.pop_front();
        add({.members = m_found[first.parent].members, .others = m_found[side.parent].members},
            {first, side});
        has_joined = true;
    }
    m_sides.insert(m_sides.end(), left.begin(), left.end());
    return has_joined;
}

// --- groups ---

std::optional<Ranks> RunCommunicators::group(std::int64_t rank, std::size_t number)
{
    return group(rank, number, 0);
}

std::optional<Ranks> RunCommunicators::group(std::int64_t rank, std::size_t number, int depth)
{
    constexpr int most = 200; // made of each other
    const Process& process = m_processes.at(static_cast<std::size_t>(rank));
    if (number >= process.groups.size() || depth > most)
        return std::nullopt;
    const GroupMaking& making = process.groups[number];
    const std::string_view function = making.function;
    if (!function.starts_with("Group_")) {
        const RunCommunicator* communicator = find(rank, making.first);
        if (communicator == nullptr)
            return std::nullopt;
        return function == "Comm_remote_group" ? communicator->peers_of(rank) : communicator->group_of(rank);
    }
    const auto first = group(rank, making.first, depth + 1);
    if (!first)
        return std::nullopt;
    if (making.second != ProcessNames::unknown || function == "Group_union")
        return combined(function, *first, group(rank, making.second, depth + 1));
    return chosen(function, *first, making.ranks, making.ranges);
}

} // namespace hdtrace::importer::dumpi
