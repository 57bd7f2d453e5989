#include "hdtrace/explaining/joined_calls.h"

namespace hdtrace {

JoinedCalls::JoinedCalls(const Project& project, const ObjectTable& objects, OnJoined on_joined)
    : m_objects(objects), m_on_joined(std::move(on_joined))
{
    for (const Communicator& communicator : project.communicators)
        if (!communicator.uid.empty())
            m_communicators[communicator.uid] = &communicator;
}

void JoinedCalls::made(const Call& call, ObjectKind kind, std::int64_t id)
{
    if (kind == ObjectKind::file)
        m_opened[{call.trace.rank, id}] = m_objects.communicator(call.trace.rank, call.state);
}

JoinedCalls::Object JoinedCalls::object_of(const Call& call) const
{
    const std::int64_t rank = call.trace.rank;
    if (call.facts.members == CollectiveMembers::file) {
        const auto opened = m_opened.find({rank, call.state.integer("fid").value_or(-1)});
        if (opened != m_opened.end() && opened->second)
            return {m_objects.file(rank, call.state), opened->second};
    } else if (call.facts.members == CollectiveMembers::window) {
        const Window* const window = m_objects.window(rank, call.state);
        const auto communicator = window ? m_communicators.find(window->communicator) : m_communicators.end();
        if (communicator != m_communicators.end())
            return {window, communicator->second};
    }
    return {};
}

void JoinedCalls::joined(const Call& call)
{
    if (call.is_inside_call || call.has_failed())
        return;
    const Object object = object_of(call);
    if (!object.first)
        return;
    Sequence& sequence = m_sequences[object];
    const auto place = static_cast<std::size_t>(sequence.calls_of[call.trace.rank]++ - sequence.done);
    if (place >= sequence.open.size())
        sequence.open.push_back({&call.facts, object.second, {}});
    sequence.open[place].members.push_back({call.trace.rank, call.trace.thread, call.state.time});
    while (!sequence.open.empty() && sequence.open.front().members.size() >= object.second->members.size()) {
        m_on_joined(sequence.open.front());
        sequence.open.pop_front();
        ++sequence.done;
    }
}

} // namespace hdtrace
