#include "hdtrace/matching/collectives.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "hdtrace/matching/one_sided_rules.h"
#include "hdtrace/matching/rank_list.h"

namespace hdtrace {
namespace {

using ArgumentsPointer = std::shared_ptr<const CollectiveArguments>;

/// Those of the call before, if they are the same, as they mostly are.
ArgumentsPointer arguments_of(const Element& call, const std::vector<Element>& children,
                              const std::vector<CollectiveCall>& before)
{
    ArgumentsPointer last = before.empty() ? nullptr : before.back().arguments;
    if (last && last->call == call && last->children == children)
        return last;
    return std::make_shared<CollectiveArguments>(CollectiveArguments{call, children});
}

/// Whether the program went on after the library had found an argument wrong, which it does before anything
/// reaches other processes. Other errors may be those of calls in which others took part.
bool is_refused(const State& state)
{
    constexpr std::string_view of_arguments[] = {"MPI_ERR_ARG", "MPI_ERR_BUFFER", "MPI_ERR_COUNT",
                                                 "MPI_ERR_OP",  "MPI_ERR_RANK",   "MPI_ERR_ROOT",
                                                 "MPI_ERR_TYPE"};
    const auto error = state.find("rc");
    return error && !state.is_unfinished() &&
           std::ranges::find(of_arguments, *error) != std::end(of_arguments);
}

} // namespace

std::vector<std::int64_t> sources_of(const CollectiveCall& call)
{
    if (!call.arguments)
        return {};
    if (const auto sources = call.arguments->call.find("sources"))
        return ranks_in(*sources, most_neighbours);
    std::vector<std::int64_t> ranks;
    for (const Element& child : call.arguments->children)
        if (child.name == "Recv")
            ranks.push_back(child.integer("rank").value_or(-1));
    return ranks;
}

std::set<std::int64_t> absent_ranks(const Collective& collective)
{
    std::set<std::int64_t> absent;
    for (const Communicator::Member& member : collective.communicator->members)
        absent.insert(member.global);
    for (const CollectiveCall& call : collective.calls)
        absent.erase(call.rank);
    return absent;
}

CollectiveMatcher::CollectiveMatcher(const ObjectTable& objects, OnCollective on_collective,
                                     std::set<std::int64_t> absent)
    : m_objects(objects), m_beginnings(objects.project()),
      m_lacks_members(one_sided_rules(objects.project()).of_collectives), m_collective_objects(objects),
      m_on_collective(std::move(on_collective)), m_absent(std::move(absent))
{
}

bool CollectiveMatcher::keeps(const CallFacts& facts) const
{
    return m_keep == Keep::all ||
           (m_keep == Keep::neighbourhoods && facts.collective == CollectiveKind::neighbourhood);
}

bool CollectiveMatcher::is_followed(const CollectiveObject& object) const
{
    const bool is_communicator = !object.file && !object.window;
    return object.communicator &&
           (is_communicator || (m_follows_objects && !m_collective_objects.is_ambiguous(object)));
}

bool CollectiveMatcher::take(const Call& call)
{
    std::optional<JoiningCall> joining = read(call);
    if (!joining)
        return false;
    put(std::move(*joining), keeps(call.facts) ? &call.state : nullptr, &call.state.children);
    return true;
}

void CollectiveMatcher::leave(const Call& call)
{
    if (m_beginnings.are_missing())
        m_beginnings.leave(call);
    else
        EventVisitor::leave(call);
}

void CollectiveMatcher::mark(const Call& call)
{
    if (m_beginnings.are_missing())
        m_beginnings.mark(call);
    else
        EventVisitor::mark(call);
}

void CollectiveMatcher::started(const Call& call, const Operation& operation)
{
    if (m_follows_starts)
        take(operation);
    else
        EventVisitor::started(call, operation);
}

bool CollectiveMatcher::take(const Operation& operation)
{
    const std::optional<CollectiveObject> object = m_collective_objects.of_start(operation);
    if (!object)
        return false;
    CollectiveCall start;
    start.rank = operation.rank;
    start.thread = operation.thread;
    start.name = operation.facts->name;
    start.start = operation.time;
    start.end = operation.end;
    start.root = operation.call->integer("rootRank");
    start.line = operation.line;
    start.rid = operation.rid;
    start.site = m_objects.call_site(operation.rank, operation.site);
    start.number = operation.number;
    put({*object, std::move(start)}, keeps(*operation.facts) ? operation.call : nullptr, operation.children);
    return true;
}

std::optional<JoiningCall> CollectiveMatcher::read(const Call& call)
{
    if (call.facts.members == CollectiveMembers::none || call.is_inside_call || is_refused(call.state))
        return {};
    const State& state = call.state;
    const std::int64_t rank = call.trace.rank;
    const std::optional<CollectiveObject> object = m_collective_objects.of(call);
    if (!object || !is_followed(*object))
        return {};
    const bool only_prepares = call.facts.progress == CallProgress::prepares;
    const Volume moved = only_prepares ? Volume() : volume_of(m_objects, call).value_or(Volume());
    return JoiningCall{*object,
                       {rank, call.trace.thread, state.name, state.time, state.end, state.integer("rootRank"),
                        moved.moved(), state.line, call.has_failed(), state.integer("rid").value_or(-1),
                        m_objects.call_site(rank, state), nullptr, call.number}};
}

void CollectiveMatcher::put(JoiningCall&& joining)
{
    put(std::move(joining), nullptr, nullptr);
}

void CollectiveMatcher::put(JoiningCall&& joining, const Element* call, const std::vector<Element>* children)
{
    static const std::vector<Element> none;
    if (m_lacks_members) {
        if (call)
            joining.call.arguments = arguments_of(*call, children ? *children : none, {});
        return m_on_collective({joining.object, -1, {std::move(joining.call)}});
    }
    Sequence& sequence = sequence_of(joining.object);
    std::vector<CollectiveCall>& calls =
        sequence.lacks_first ? sequence.kept[joining.call.rank] : calls_of_next(sequence, joining.call.rank);
    if (call)
        joining.call.arguments = arguments_of(*call, children ? *children : none, calls);
    calls.push_back(std::move(joining.call));
    while (sequence.is_complete()) {
        if (!remove_misfit(sequence))
            hand_out_first(sequence);
    }
    // As many are prepared as a program likes. Who has started as often as the others begins anew with them.
    if (joining.object.prepared >= 0 && sequence.open.empty() && !sequence.lacks_first)
        m_sequences.erase(joining.object);
}

std::size_t CollectiveMatcher::callers_of(const Communicator& communicator) const
{
    return std::ranges::count_if(communicator.members,
                                 [&](const auto& member) { return !m_absent.contains(member.global); });
}

CollectiveMatcher::Sequence& CollectiveMatcher::sequence_of(const CollectiveObject& object)
{
    const auto [found, is_new] = m_sequences.try_emplace(object);
    if (is_new) {
        found->second.object = object;
        found->second.callers = callers_of(*object.communicator);
        found->second.lacks_first =
            m_beginnings.are_missing() &&
            std::ranges::any_of(object.communicator->members,
                                [&](const auto& member) { return m_beginnings.is_missing(member.global); });
    }
    return found->second;
}

/// Of the operation that a process takes part in next.
std::vector<CollectiveCall>& CollectiveMatcher::calls_of_next(Sequence& sequence, std::int64_t rank)
{
    const std::int64_t number = sequence.calls_of[rank]++;
    const std::size_t place = static_cast<std::size_t>(number - sequence.done);
    if (place == sequence.open.size()) {
        sequence.open.push_back({sequence.object, number, std::move(sequence.spare)});
        sequence.spare = {};
    }
    return sequence.open[place].calls;
}

void CollectiveMatcher::hand_out_first(Sequence& sequence)
{
    Collective& collective = sequence.open.front();
    collective.number = sequence.done++;
    for (const CollectiveCall& call : collective.calls)
        sequence.failed_of[call.rank] += call.has_failed ? 1 : 0;
    m_on_collective(collective);
    sequence.spare = std::move(collective.calls);
    sequence.spare.clear();
    sequence.open.pop_front();
}

/// Of how many operations the calls are known: all that follow the first which all members have, and which
/// all have called by the same name. What is prepared is numbered from the beginning, so nobody knows which
/// that is.
std::size_t CollectiveMatcher::count_from_end(const Sequence& sequence) const
{
    if (sequence.kept.size() < sequence.callers || sequence.object.prepared >= 0)
        return 0;
    auto count = std::numeric_limits<std::ptrdiff_t>::max();
    for (const auto& [rank, calls] : sequence.kept) {
        const auto from = m_beginnings.complete_from(rank);
        const auto before = std::find_if(calls.rbegin(), calls.rend(), [&](const CollectiveCall& call) {
            return !from || call.start < *from;
        });
        count = std::min(count, before - calls.rbegin());
    }
    const std::vector<CollectiveCall>& model = sequence.kept.begin()->second;
    const bool are_same = std::ranges::all_of(sequence.kept, [&](const auto& member) {
        const auto is_same = [](const CollectiveCall& one, const CollectiveCall& other) {
            return one.name == other.name && !other.has_failed;
        };
        return std::equal(model.end() - count, model.end(), member.second.end() - count, is_same);
    });
    return are_same ? static_cast<std::size_t>(count) : 0;
}

/// Nothing follows.
void CollectiveMatcher::hand_out_from_end(Sequence& sequence)
{
    const std::size_t count = count_from_end(sequence);
    for (auto& [rank, calls] : sequence.kept)
        for (std::size_t i = 0; i + count < calls.size(); ++i)
            m_on_collective({sequence.object, -1, {std::move(calls[i])}});
    for (std::size_t number = 0; number < count; ++number) {
        Collective collective{sequence.object, static_cast<std::int64_t>(number), {}};
        for (auto& [rank, calls] : sequence.kept)
            collective.calls.push_back(std::move(calls[calls.size() - count + number]));
        std::ranges::sort(collective.calls, {}, &CollectiveCall::start);
        m_on_collective(collective);
    }
}

/// Whether a call was removed from the first operation that failed and is another one than those of others.
bool CollectiveMatcher::remove_misfit(Sequence& sequence)
{
    const std::vector<CollectiveCall>& calls = sequence.open.front().calls;
    const auto model = std::ranges::find(calls, false, &CollectiveCall::has_failed);
    if (model == calls.end())
        return false;
    const auto misfit = std::ranges::find_if(
        calls, [&](const CollectiveCall& call) { return call.has_failed && call.name != model->name; });
    if (misfit == calls.end())
        return false;
    remove_first_call(sequence, misfit->rank);
    return true;
}

/// What the process called after it takes part in one operation earlier.
void CollectiveMatcher::remove_first_call(Sequence& sequence, std::int64_t rank)
{
    --sequence.calls_of[rank];
    std::vector<CollectiveCall>* earlier = nullptr;
    for (Collective& collective : sequence.open) {
        const auto call = std::ranges::find(collective.calls, rank, &CollectiveCall::rank);
        if (call == collective.calls.end())
            break;
        if (earlier)
            earlier->push_back(std::move(*call));
        collective.calls.erase(call);
        earlier = &collective.calls;
    }
    while (!sequence.open.empty() && sequence.open.back().calls.empty())
        sequence.open.pop_back();
}

/// Whether all that called tried it a second time, perhaps, after the others had taken part in the first try.
bool CollectiveMatcher::is_excused(Sequence& sequence, const Collective& collective)
{
    const auto may_be_a_second_try = [&](const CollectiveCall& call) {
        return call.has_failed || sequence.failed_of[call.rank] > 0;
    };
    if (!std::ranges::all_of(collective.calls, may_be_a_second_try))
        return false;
    for (const CollectiveCall& call : collective.calls)
        sequence.failed_of[call.rank] -= call.has_failed ? 0 : 1;
    return true;
}

void CollectiveMatcher::finish()
{
    for (auto& [object, sequence] : m_sequences) { // in the order of the project
        if (m_collective_objects.is_ambiguous(object))
            continue;
        if (sequence.lacks_first)
            hand_out_from_end(sequence);
        while (!sequence.open.empty()) {
            if (remove_misfit(sequence))
                continue;
            if (is_excused(sequence, sequence.open.front()))
                sequence.open.pop_front();
            else
                hand_out_first(sequence);
        }
    }
    m_sequences.clear();
}

} // namespace hdtrace
