#include "hdtrace/matching/collective_objects.h"

namespace hdtrace {

std::optional<CollectiveObject> CollectiveObjects::of(const Call& call)
{
    switch (call.facts.members) {
    case CollectiveMembers::communicator: {
        const Communicator* communicator = m_objects.communicator(call.trace.rank, call.state);
        note_made(call, communicator);
        if (communicator && call.facts.progress == CallProgress::prepares)
            note_prepared(call, *communicator);
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

std::optional<CollectiveObject> CollectiveObjects::of_start(const Operation& operation) const
{
    if (operation.facts->progress != CallProgress::prepares ||
        operation.facts->collective == CollectiveKind::none)
        return std::nullopt;
    const auto prepared = m_prepared.find({operation.rank, operation.call->integer("rid").value_or(-1)});
    return prepared == m_prepared.end() ? std::nullopt : std::optional(prepared->second);
}

void CollectiveObjects::note_made(const Call& call, const Communicator* communicator)
{
    const std::int64_t rank = call.trace.rank;
    const ProjectFile *file = nullptr, *opened = nullptr;
    if (call.facts.makes == ObjectKind::file && communicator) { // also if it failed: others count it, too
        file = m_objects.file(rank, call.state);
        opened = file_of_opening(rank, *communicator, file);
    }
    if (call.has_failed() || call.state.is_unfinished())
        return;
    if (call.facts.makes == ObjectKind::window)
        m_windows.try_emplace(m_objects.window(rank, call.state), communicator);
    if (file && !m_opened.try_emplace({rank, file}, CollectiveObject{communicator, opened}).second)
        m_ambiguous.insert({file, opened});
}

void CollectiveObjects::note_prepared(const Call& call, const Communicator& communicator)
{
    const std::int64_t rank = call.trace.rank;
    if (const auto rid = call.state.integer("rid"))
        m_prepared[{rank, *rid}] = {&communicator, nullptr, nullptr, m_prepared_on[{rank, &communicator}]++};
}

const ProjectFile* CollectiveObjects::file_of_opening(std::int64_t rank, const Communicator& communicator,
                                                      const ProjectFile* own)
{
    const std::int64_t number = m_openings_of[{rank, &communicator}]++;
    const auto opening = m_openings.try_emplace({&communicator, number}).first;
    if (!opening->second.file)
        opening->second.file = own;
    const ProjectFile* const file = opening->second.file;
    if (++opening->second.processes == communicator.members.size())
        m_openings.erase(opening);
    return file;
}

std::optional<CollectiveObject> CollectiveObjects::of_file(const Call& call)
{
    const ProjectFile* file = m_objects.file(call.trace.rank, call.state);
    const auto opened = m_opened.find({call.trace.rank, file});
    if (!file || opened == m_opened.end())
        return std::nullopt;
    const CollectiveObject object = opened->second;
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
