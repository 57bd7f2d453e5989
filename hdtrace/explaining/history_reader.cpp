#include "hdtrace/explaining/history_reader.h"

#include <algorithm>
#include <set>
#include <utility>

#include "hdtrace/calls/partitions.h"
#include "hdtrace/calls/special_ranks.h"
#include "hdtrace/calls/volume.h"
#include "hdtrace/explaining/clocks.h"
#include "hdtrace/format/left_out.h"
#include "hdtrace/matching/saturated.h"

namespace hdtrace {
namespace {

/// Whether a member may go on before those have come whom such operations wait for: parts of members that
/// calls list may be empty, too.
bool may_return_early(const Collective& collective, const CallFacts& call, WaitKind kind)
{
    const auto is_empty = [](const CollectiveCall& one) { return one.bytes == 0; };
    return facts_of(kind).may_return_early ||
           (exchanges_data(call.collective) &&
            (call.lists_sends || call.lists_receives || std::ranges::any_of(collective.calls, is_empty)));
}

constexpr std::uint32_t none = UINT32_MAX;
// MPI libraries buffer messages that are smaller. Larger ones that were not complete before their receive
// began have waited for it.
constexpr std::int64_t least_awaited = 4096;

/// About what is done: also of starts of what was prepared.
const CallFacts& operation_of(const Collective& collective)
{
    const CallFacts& call = facts_of(std::string_view(collective.calls.front().name));
    return collective.prepared >= 0 ? facts_of(call.operation) : call;
}

Selection all_of(const Project& project)
{
    Selection all;
    all.unfinished = true;
    return with_regions(project, std::move(all));
}

/// Older projects do not tell how their hosts' clocks differ.
std::shared_ptr<const OpenedProject> with_clocks(std::shared_ptr<const OpenedProject> project)
{
    if (!project->project.clocks.empty())
        return project;
    std::vector<HostClock> clocks = compare_clocks(*project);
    if (clocks.empty())
        return project;
    Project corrected = project->project;
    corrected.clocks = std::move(clocks);
    return std::make_shared<const OpenedProject>(std::move(corrected));
}

/// By their ranks in the communicator, where that matters.
std::vector<const CollectiveCall*> members_of(const Collective& collective, WaitKind kind)
{
    std::vector<const CollectiveCall*> members;
    for (const CollectiveCall& call : collective.calls)
        members.push_back(&call);
    if (facts_of(kind).awaited != Awaited::lower)
        return members;
    std::unordered_map<std::int64_t, std::int64_t> local;
    for (const Communicator::Member& member : collective.communicator->members)
        local[member.global] = member.local;
    std::ranges::sort(members, {}, [&](const CollectiveCall* call) { return local[call->rank]; });
    return members;
}

} // namespace

HistoryReader::HistoryReader(std::shared_ptr<const OpenedProject> project, TimeInterval interval)
    : m_project(with_clocks(std::move(project))), m_interval(inside_part(m_project->project, interval)),
      m_states(std::in_place, m_project->traces, all_of(m_project->project)),
      m_beginnings(m_project->project), m_epochs(m_project->objects, m_beginnings),
      m_messages(m_project->objects, [this](const Message& message) { add_message(message); }),
      m_collectives(m_project->objects, [this](const Collective& collective) { add_collective(collective); }),
      m_topologies(m_project->objects), m_file_uses(*m_project, m_interval)
{
    m_collectives.follow_objects();
    m_collectives.follow_starts();
    m_collectives.keep_arguments(CollectiveMatcher::Keep::neighbourhoods);
    for (const TraceFile& trace : m_project->traces) {
        const auto number = static_cast<std::uint32_t>(m_history.timelines.size());
        if (m_timelines.try_emplace({trace.rank, trace.thread}, number).second)
            m_history.timelines.push_back({trace.rank, trace.thread, {}});
    }
}

bool HistoryReader::read(std::size_t states)
{
    for (; states > 0 && m_states; --states) {
        if (const ReadAhead::Item* item = m_states->next()) {
            m_walk.add(*item->trace, item->state);
        } else {
            m_missing = m_states->missing();
            m_states.reset();
            finish();
        }
    }
    return m_states.has_value();
}

std::uint32_t HistoryReader::timeline_of(std::int64_t rank, std::int64_t thread) const
{
    const auto found = m_timelines.find({rank, thread});
    return found == m_timelines.end() ? none : found->second;
}

std::int32_t HistoryReader::region_number(std::int32_t path)
{
    const auto place = static_cast<std::size_t>(path);
    if (place >= m_regions.size())
        m_regions.resize(place + 1, path == RegionPaths::outside ? 0 : -1);
    if (m_regions[place] < 0) {
        m_regions[place] = static_cast<std::int32_t>(m_history.regions.size());
        m_history.regions.push_back(m_walk.regions().text(path));
    }
    return m_regions[place];
}

void HistoryReader::add_step(std::uint32_t timeline, Place place, std::int64_t begin, std::int64_t end)
{
    Steps& steps = m_history.timelines[timeline].steps;
    // Traces may hold any times: differences of these fit into 64 bits.
    const std::int64_t earliest = steps.empty() ? -HostClock::latest : steps.back().end;
    begin = std::clamp(begin, earliest, HostClock::latest);
    steps.push_back({begin, std::clamp(end, begin, HostClock::latest), m_places.number_of(place)});
}

void HistoryReader::add_border(const TraceFile& trace, std::int64_t time, Place place)
{
    const std::uint32_t timeline = timeline_of(trace.rank, trace.thread);
    const Steps& steps = m_history.timelines[timeline].steps;
    if (steps.empty() || time >= steps.back().end) // else it is inside a call
        add_step(timeline, place, time, time);
}

void HistoryReader::add_left_out_polls(const Call& next)
{
    const std::optional<StepId> last = last_step(next);
    if (!last || !m_history.place(*last).call->polls)
        return;
    const std::int64_t time = left_out_poll_time(next.state);
    if (time <= 0)
        return;
    Timeline& timeline = m_history.timelines[last->timeline];
    timeline.left_out.push_back(static_cast<std::uint32_t>(timeline.steps.size()));
    add_step(last->timeline, m_history.place(*last), saturated_distance(next.state.time, time),
             next.state.time);
}

void HistoryReader::enter(const Call& call)
{
    if (call.own_region != RegionPaths::outside)
        return add_border(call.trace, call.state.time, {.region = region_number(call.own_region)});
    const bool is_call =
        call.facts.call_class != CallClass::other && call.facts.call_class != CallClass::event;
    if (!is_call || call.is_inside_call)
        return;
    add_left_out_polls(call);
    const Communicator* const communicator = m_project->objects.communicator(call.trace.rank, call.state);
    const CallSite* const site = m_project->objects.call_site(call.trace.rank, call.state);
    const Project& project = m_project->project;
    add_step(timeline_of(call.trace.rank, call.trace.thread),
             {.call = &call.facts,
              .site = site ? position_in(project.call_sites, *site) : -1,
              .communicator = communicator ? position_in(project.communicators, *communicator) : -1,
              .region = region_number(call.region)},
             call.state.time, call.state.end);
    if (call.facts.probes != ProbeKind::none && call.facts.progress == CallProgress::blocking)
        add_probe(call, communicator);
    if (makes_partitions_ready(call.facts))
        m_ready[{call.trace.rank, call.state.integer("rid").value_or(-1)}] = *last_step(call);
}

void HistoryReader::add_probe(const Call& call, const Communicator* communicator)
{
    const auto source = call.state.integer("fromRank"), tag = call.state.integer("fromTag");
    if (source && tag && !call.has_failed() && !call.state.is_unfinished())
        m_probes[{communicator, call.trace.rank, *source, *tag}].push_back(
            {*last_step(call), call.state.line, call.trace.thread, call.facts.probes == ProbeKind::takes});
}

// Whoever looks for a message before receiving it waits for its sender there. The next receive of such a
// message gets the one that was found (MPI 4.1, 3.8.1): the probes before it are about this one. A probe that
// takes a message is about that one, whenever it is received.
void HistoryReader::add_probes_of(const Message& message, StepId send)
{
    const auto found =
        m_probes.find({message.communicator, message.destination, message.source, message.tag});
    if (found == m_probes.end())
        return;
    std::vector<Probe>& probes = found->second;
    std::erase_if(probes, [&](const Probe& probe) {
        const MessageEnd& receive = *message.receive;
        const bool is_about_it =
            probe.takes ? probe.line == receive.probe_line && probe.thread == receive.probe_thread
                        : m_history.step(probe.step).end <= receive.time;
        if (is_about_it && probe.step != send)
            m_needs.push_back({probe.step, send, WaitKind::late_sender});
        return is_about_it;
    });
    if (probes.empty())
        m_probes.erase(found);
}

void HistoryReader::leave(const Call& call)
{
    if (call.state.is_unfinished() && !call.is_inside_call && call.facts.call_class != CallClass::other &&
        call.state.end > m_interval.begin && call.state.time < m_interval.end)
        ++m_unfinished;
    if (call.own_region != RegionPaths::outside)
        add_border(call.trace, call.state.end,
                   {.region = region_number(call.region), .left = region_number(call.own_region)});
    else if (call.facts.synchronisation != WindowSynchronisation::none && !call.is_inside_call)
        m_epochs.add(call, *last_step(call));
}

std::optional<StepId> HistoryReader::last_step(const Call& call) const
{
    const std::uint32_t timeline = timeline_of(call.trace.rank, call.trace.thread);
    const Steps& steps = m_history.timelines[timeline].steps;
    std::size_t count = steps.size();
    while (count > 0 && !m_history.places[steps[count - 1].place].call)
        --count;
    return count > 0 ? std::optional<StepId>({timeline, static_cast<std::uint32_t>(count - 1)})
                     : std::nullopt;
}

// Mostly it is one of the last.
std::optional<StepId> HistoryReader::find(std::int64_t rank, std::int64_t thread, std::int64_t time) const
{
    const std::uint32_t timeline = timeline_of(rank, thread);
    if (timeline == none)
        return {};
    const Steps& steps = m_history.timelines[timeline].steps;
    std::size_t end = steps.size(); // behind the last one that may be it
    std::size_t stride = 1;
    while (end > stride && steps[end - stride].begin > time) {
        end -= stride;
        stride *= 2;
    }
    std::size_t begin = end > stride ? end - stride : 0;
    while (begin < end) {
        const std::size_t middle = begin + (end - begin) / 2;
        if (steps[middle].begin <= time)
            begin = middle + 1;
        else
            end = middle;
    }
    while (begin > 0 && !m_history.places[steps[begin - 1].place].call)
        --begin;
    return begin > 0 ? std::optional<StepId>({timeline, static_cast<std::uint32_t>(begin - 1)})
                     : std::nullopt;
}

void HistoryReader::started(const Call&, const Operation& operation)
{
    if (operation.rid < 0)
        return;
    const Id request{operation.rank, operation.rid};
    if (operation.facts->partitioned && operation.facts->sends != SendMode::none)
        m_ready[request];
    if (operation.facts->sends == SendMode::synchronous)
        m_synchronous[request];
    else if (operation.facts->sends == SendMode::standard &&
             operation.call->integer(operation.facts->sent_size).value_or(0) >= least_awaited)
        m_synchronous[request].is_certain = false;
}

void HistoryReader::completed(const Call& call, const Completion& completion)
{
    const Operation* const operation = completion.operation;
    const std::optional<StepId> end = last_step(call);
    if (!operation || operation->rid < 0 || completion.outcome != Outcome::completed || !end)
        return;
    const Id request{operation->rank, operation->rid};
    if (operation->facts->receives != ReceiveKind::none)
        m_received[request] = *end;
    if (operation->facts->collective != CollectiveKind::none)
        if (const auto start = find(operation->rank, operation->thread, operation->time))
            m_ends[{*start, operation->rid}] = *end;
    if (const auto found = m_synchronous.find(request); found != m_synchronous.end()) {
        found->second.end = end;
        if (found->second.receive) {
            add_synchronous(found->second);
            m_synchronous.erase(found);
        }
    }
}

void HistoryReader::add_synchronous(const SynchronousSend& send)
{
    if (send.is_certain || m_history.step(*send.end).end >= m_history.step(*send.receive).begin)
        m_needs.push_back({*send.end, *send.receive, WaitKind::late_receiver});
}

void HistoryReader::add_message(const Message& message)
{
    if (!message.receive)
        return;
    const MessageEnd& receive = *message.receive;
    const Id request{message.destination, receive.rid};
    std::optional<StepId> end;
    if (receive.rid < 0) {
        end = find(message.destination, receive.thread, receive.time);
    } else if (const auto found = m_received.extract(request)) {
        end = found.mapped();
    }
    if (!message.send)
        return;
    const auto send = find(message.source, message.send->thread, message.send->time);
    const auto posted = find(message.destination, receive.thread, receive.time);
    if (!send || !posted)
        return;
    add_probes_of(message, *send);
    if (end && *end != *send) {
        const Need need{*end, *send, WaitKind::late_sender};
        if (const Id start{message.source, message.send->rid}; m_ready.contains(start))
            m_partitioned.push_back({need, start});
        else
            m_needs.push_back(need);
    }
    if (message.send->rid >= 0) {
        const auto found = m_synchronous.find({message.source, message.send->rid});
        if (found == m_synchronous.end())
            return;
        found->second.receive = posted;
        if (found->second.end) {
            add_synchronous(found->second);
            m_synchronous.erase(found);
        }
    } else if (const SendMode mode = m_history.place(*send).call->sends; *send != *posted) {
        const bool may_wait = mode == SendMode::standard && message.send->size >= least_awaited;
        if (mode == SendMode::synchronous || may_wait)
            add_synchronous({send, posted, mode == SendMode::synchronous});
    }
}

// A message in partitions is there once the last of them is ready (MPI 4.1, 4.2.1), which is mostly read
// behind the receiver's call, as that begins before.
void HistoryReader::add_partitioned()
{
    for (const auto& [need, start] : m_partitioned)
        m_needs.push_back({need.call, m_ready[start].value_or(need.of), need.kind});
}

/// The gathering becomes the next one of the history.
void HistoryReader::add_member(Gathering& gathering, const CollectiveCall& call)
{
    const auto step = find(call.rank, call.thread, call.start);
    if (!step)
        return;
    const bool blocks = m_history.place(*step).call->progress == CallProgress::blocking;
    if (!blocks)
        m_started_members.push_back(
            {m_history.gatherings.size(), static_cast<std::uint32_t>(gathering.members.size()), call.rid});
    gathering.members.push_back({*step, *step, blocks});
}

void HistoryReader::add_collective(const Collective& collective)
{
    const Communicator& communicator = *collective.communicator;
    const CollectiveCall& first = collective.calls.front();
    const CallFacts& operation = operation_of(collective);
    const auto kind = wait_kind_of(operation);
    const bool is_whole = std::ssize(collective.calls) == communicator.size();
    // Who was told of an error may not have waited for anybody.
    if (!kind || !is_whole || std::ranges::any_of(collective.calls, &CollectiveCall::has_failed))
        return;
    if (communicator.is_inter())
        return add_between_groups(collective, *kind);
    if (facts_of(*kind).awaited == Awaited::sources)
        return add_neighbours(collective);
    Gathering gathering{.kind = *kind,
                        .communicator = position_in(m_project->project.communicators, communicator),
                        .may_return_early = may_return_early(collective, operation, *kind),
                        .members = {}};
    gathering.members.reserve(collective.calls.size());
    for (const CollectiveCall* call : members_of(collective, *kind)) {
        if (first.root == call->rank)
            gathering.root = static_cast<std::int32_t>(gathering.members.size());
        add_member(gathering, *call);
    }
    m_history.gatherings.push_back(std::move(gathering));
}

// Nobody waits for data that is empty; lists of a call leave it out.
std::vector<std::int64_t> HistoryReader::sources_of_data(const CollectiveCall& call,
                                                         const Communicator& communicator) const
{
    if (!call.arguments || call.arguments->call.integer("recvSize") == 0)
        return {};
    std::vector<std::int64_t> named = sources_of(call);
    const bool is_told = !named.empty() || facts_of(std::string_view(call.name)).lists_receives;
    return is_told ? std::move(named) : m_topologies.sources(communicator, call.rank);
}

void HistoryReader::add_neighbours(const Collective& collective)
{
    std::unordered_map<std::int64_t, StepId> starts; // by rank
    for (const CollectiveCall& call : collective.calls)
        if (const auto start = find(call.rank, call.thread, call.start);
            start && call.name == collective.calls.front().name) // else they do not belong together
            starts[call.rank] = *start;
    for (const CollectiveCall& call : collective.calls)
        for (const std::int64_t source : sources_of_data(call, *collective.communicator))
            if (source != call.rank && starts.contains(call.rank) && starts.contains(source))
                m_started_needs.push_back(
                    {{starts[call.rank], starts[source], WaitKind::wait_at_neighbours}, call.rid});
}

// Data goes from each of the two groups to the other one, or from the root, which says so itself, or to it
// (MPI 4.1, 6.2.3).
void HistoryReader::add_between_groups(const Collective& collective, WaitKind kind)
{
    std::unordered_map<std::int64_t, std::int64_t> groups; // by rank
    for (const Communicator::Member& member : collective.communicator->members)
        groups[member.global] = member.group.value_or(0);
    struct Caller {
        StepId start;
        std::int64_t group;
        std::int64_t rid;
    };
    std::vector<Caller> callers;
    std::map<std::int64_t, StepId> latest; // of each group
    std::optional<Caller> root;
    for (const CollectiveCall& call : collective.calls) {
        const auto start = find(call.rank, call.thread, call.start);
        if (!start)
            return;
        callers.push_back({*start, groups[call.rank], call.rid});
        StepId& last = latest.try_emplace(groups[call.rank], *start).first->second;
        if (m_history.step(*start).begin > m_history.step(last).begin)
            last = *start;
        if (call.root == mpi_root)
            root = callers.back();
    }
    const Awaited awaited = facts_of(kind).awaited;
    for (const Caller& caller : callers)
        for (const auto& [group, last] : latest) {
            const bool is_root = root && root->start == caller.start;
            if (group == caller.group)
                continue;
            if (awaited == Awaited::all || (awaited == Awaited::others && is_root))
                m_started_needs.push_back({{caller.start, last, kind}, caller.rid});
            else if (awaited == Awaited::root && root && root->group == group)
                m_started_needs.push_back({{caller.start, root->start, kind}, caller.rid});
        }
}

// All processes of a world begin and end MPI together. Where one did so is not in the traces, as in a part of
// a run, nobody knows who came last.
void HistoryReader::add_lives()
{
    const auto world_of = [&](std::int64_t rank) {
        const auto& worlds = m_project->project.worlds;
        return std::ranges::upper_bound(worlds, rank, {}, &World::first) - worlds.begin();
    };
    struct Life {
        Gathering gathering;
        std::set<std::int64_t> ranks;
    };
    std::map<std::pair<std::ptrdiff_t, LifeCycle>, Life> lives;
    std::map<std::ptrdiff_t, std::set<std::int64_t>> ranks; // by world
    for (std::uint32_t timeline = 0; timeline < m_history.timelines.size(); ++timeline) {
        const Timeline& of = m_history.timelines[timeline];
        const std::ptrdiff_t world = world_of(of.rank);
        ranks[world].insert(of.rank);
        for (std::uint32_t step = 0; step < of.steps.size(); ++step) {
            const CallFacts* const call = m_history.places[of.steps[step].place].call;
            if (!call || (call->life != LifeCycle::begins && call->life != LifeCycle::ends))
                continue;
            const StepId id{timeline, step};
            Life& life = lives[{world, call->life}];
            life.gathering.members.push_back({id, id});
            life.ranks.insert(of.rank);
        }
    }
    for (auto& [key, life] : lives) {
        if (life.ranks.size() < ranks[key.first].size())
            continue;
        life.gathering.kind =
            key.second == LifeCycle::begins ? WaitKind::wait_at_init : WaitKind::wait_at_finalize;
        life.gathering.may_return_early = facts_of(life.gathering.kind).may_return_early;
        m_history.gatherings.push_back(std::move(life.gathering));
    }
}

void HistoryReader::end_gatherings()
{
    m_started_members.take_all([&](const StartedMember& started) {
        Gathering::Member& member = m_history.gatherings[started.gathering].members[started.member];
        if (const auto end = m_ends.find({member.call, started.rid}); end != m_ends.end()) {
            member.end = end->second;
            member.has_ended = true;
        }
    });
}

// Nobody waits for a neighbour or a root whose data is empty: libraries may return before it comes.
void HistoryReader::end_started_needs()
{
    m_started_needs.take_all([&](const StartedNeed& started) {
        Need need = started.need;
        if (m_history.place(need.call).call->progress != CallProgress::blocking) {
            const auto end = m_ends.find({need.call, started.rid});
            if (end == m_ends.end())
                return;
            need.call = end->second;
        }
        if (m_history.step(need.call).end >= m_history.step(need.of).begin)
            m_needs.push_back(need);
    });
}

void HistoryReader::sort_needs()
{
    std::vector<Need>& needs = m_history.needs;
    needs.reserve(needs.size() + m_needs.size());
    m_needs.take_all([&](const Need& need) { needs.push_back(need); });
    std::ranges::sort(needs);
}

void HistoryReader::finish()
{
    m_messages.finish();
    m_collectives.finish();
    end_gatherings();
    end_started_needs();
    add_partitioned();
    m_ends.clear();
    m_epochs.add_needs(m_history);
    sort_needs();
    add_lives();
    m_file_uses.finish(m_history.end() - m_history.begin());
    const bool is_everything =
        m_interval.begin == TimeInterval().begin && m_interval.end == TimeInterval().end;
    if (!is_everything)
        m_history.cut(m_interval);
}

} // namespace hdtrace
