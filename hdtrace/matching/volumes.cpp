#include "hdtrace/matching/volumes.h"

#include <algorithm>
#include <string_view>

namespace hdtrace {
namespace {

/// How many members the group of the process has, or the other one; where there is one only, that.
std::int64_t group_size(const Communicator* communicator, std::int64_t rank, bool is_own)
{
    if (communicator == nullptr)
        return 1;
    if (!communicator->is_inter())
        return communicator->size();
    const Communicator::Member* const me = communicator->member(rank);
    if (me == nullptr)
        return communicator->size();
    const auto is_in_it = [&](const Communicator::Member& member) {
        return (member.group == me->group) == is_own;
    };
    return std::ranges::count_if(communicator->members, is_in_it) +
           ((me->group == 0) == is_own ? communicator->untraced : communicator->untraced_remote);
}

/// What a state says of its call.
class StateArguments {
  public:
    StateArguments(const ObjectTable& objects, const Call& call) : m_objects(objects), m_call(call) {}

    auto receiver() const { return m_call.state.integer("toRank"); }
    auto sender() const { return m_call.state.integer("fromRank"); }
    auto root() const { return m_call.state.integer("rootRank"); }
    auto size() const { return m_call.state.integer("size"); }
    auto received_size() const { return m_call.state.integer("recvSize"); }
    auto transferred_size() const { return m_call.state.integer("actual"); }
    auto message_sent() const { return message_size(m_call.facts.sent_size); }
    auto message_received() const { return message_size(m_call.facts.received_size); }
    bool is_in_place() const { return m_call.state.has("inPlace"); }
    ListedParts listed_sends() const { return listed("Send"); }
    ListedParts listed_receives() const { return listed("Recv"); }
    std::int64_t rank() const { return m_call.trace.rank; }
    std::int64_t partners() const { return group_size(communicator(), rank(), false); }
    std::int64_t members() const { return group_size(communicator(), rank(), true); }
    // Older traces do not tell.
    std::int64_t indegree() const { return m_call.state.integer("indegree").value_or(1); }
    std::int64_t outdegree() const { return m_call.state.integer("outdegree").value_or(1); }
    bool is_first() const
    {
        const Communicator::Member* const me = communicator() ? communicator()->member(rank()) : nullptr;
        return me && me->local == 0;
    }

  private:
    const Communicator* communicator() const { return m_objects.communicator(rank(), m_call.state); }
    // Most are called so, and to make a name of a text each time takes longer than to look it up.
    std::optional<std::int64_t> message_size(std::string_view name) const
    {
        return name == "size" ? size() : m_call.state.integer(name);
    }
    ListedParts listed(std::string_view name) const
    {
        ListedParts parts;
        for (const Element& child : m_call.state.children)
            if (child.name == name)
                parts.add(child.integer("rank").value_or(any_rank), rank(),
                          child.integer("size").value_or(0));
        return parts;
    }

    const ObjectTable& m_objects;
    const Call& m_call;
};

} // namespace

std::optional<Volume> volume_of(const ObjectTable& objects, const Call& call)
{
    return volume_by(call.facts, StateArguments(objects, call));
}

std::int64_t bytes_of(const Call& call, const std::optional<Volume>& volume)
{
    if (volume)
        return volume->moved();
    return call.facts.call_class == CallClass::other
               ? std::max<std::int64_t>(call.state.integer("size").value_or(0), 0)
               : 0;
}

std::optional<Volume> Volumes::of(const Call& call)
{
    const std::int64_t rank = call.trace.rank;
    if (call.facts.progress == CallProgress::activates)
        return call.has_failed() ? Volume() : of_started(rank, call.state);
    const auto request = [&] { return std::pair(rank, call.state.integer("rid").value_or(-1)); };
    if (call.facts.progress == CallProgress::releases)
        m_prepared.erase(request());
    const std::optional<Volume> volume = volume_of(m_objects, call);
    if (volume && call.has_failed())
        return Volume();
    if (call.facts.progress != CallProgress::prepares)
        return volume;
    if (volume)
        m_prepared[request()] = *volume;
    return std::nullopt;
}

std::optional<Volume> Volumes::of_started(std::int64_t rank, const State& call) const
{
    std::optional<Volume> started;
    const auto add = [&](const Element& start) {
        const std::optional<Volume> prepared = of_prepared(rank, start);
        if (!prepared)
            return;
        started = started.value_or(Volume());
        *started += *prepared;
    };
    add(call);
    for (const Element& child : call.children)
        add(child);
    return started;
}

std::optional<Volume> Volumes::of_prepared(std::int64_t rank, const Element& start) const
{
    const auto prepared = m_prepared.find({rank, start.integer("initRid").value_or(-1)});
    return prepared == m_prepared.end() ? std::nullopt : std::optional(prepared->second);
}

std::optional<Volume> Volumes::of_operation(const Call& call, const Operation& operation) const
{
    if (call.facts.progress != CallProgress::activates)
        return volume_of(m_objects, call);
    const auto starts_it = [&](const Element& start) { return start.integer("rid") == operation.rid; };
    const auto child = std::ranges::find_if(call.state.children, starts_it);
    return of_prepared(operation.rank, child != call.state.children.end() ? *child : call.state);
}

} // namespace hdtrace
