#include "hdtrace/matching/collective_objects.h"

namespace hdtrace {

std::optional<CollectiveObject> CollectiveObjects::of(const Call& call)
{
    switch (call.facts.members) {
    case CollectiveMembers::communicator: {
        const Communicator* communicator = m_objects.communicator(call.trace.rank, call.state);
        note_made(call, communicator);
        return communicator ? std::optional(CollectiveObject{communicator}) : std::nullopt;
    }
    case CollectiveMembers::file:
        return of_file(call);
    case CollectiveMembers::window:
        return of_window(call);
    default:
        return std::nullopt;
    }
}

void CollectiveObjects::note_made(const Call& call, const Communicator* communicator)
{
    const std::int64_t rank = call.trace.rank;
    if (call.has_failed() || call.state.is_unfinished())
        return;
    if (call.facts.makes == ObjectKind::window)
        m_windows.try_emplace(m_objects.window(rank, call.state), communicator);
    if (call.facts.makes != ObjectKind::file)
        return;
    const ProjectFile* file = m_objects.file(rank, call.state);
    if (!m_opened.try_emplace({rank, file}, communicator).second)
        m_ambiguous.insert(file);
}

std::optional<CollectiveObject> CollectiveObjects::of_file(const Call& call)
{
    const ProjectFile* file = m_objects.file(call.trace.rank, call.state);
    const auto opened = m_opened.find({call.trace.rank, file});
    if (!file || opened == m_opened.end())
        return std::nullopt;
    const CollectiveObject object{opened->second, file};
    if (call.facts.frees == ObjectKind::file)
        m_opened.erase(opened);
    return object;
}

std::optional<CollectiveObject> CollectiveObjects::of_window(const Call& call) const
{
    const Window* window = m_objects.window(call.trace.rank, call.state);
    const auto made = m_windows.find(window);
    return window && made != m_windows.end() ? std::optional(CollectiveObject{made->second, nullptr, window})
                                             : std::nullopt;
}

} // namespace hdtrace
