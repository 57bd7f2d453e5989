#include "hdtrace/analysis/call_columns.h"

#include <utility>

namespace hdtrace {
namespace {

std::vector<std::string> all_class_names()
{
    std::vector<std::string> names;
    for (int i = 0; i <= static_cast<int>(CallClass::other); ++i)
        names.emplace_back(class_name(static_cast<CallClass>(i)));
    return names;
}

template <class Object> std::int32_t code_of(const std::vector<Object>& list, const Object* object)
{
    return object ? position_in(list, *object) : -1;
}

// With whom a call communicates: a receive with the sender, all others with whom they address.
struct Partners {
    std::optional<std::int64_t> peer, tag, recv_peer, recv_tag;
};

Partners partners_of(const State& state)
{
    const auto to = state.integer("toRank"), from = state.integer("fromRank");
    if (!to)
        return {from, state.integer("fromTag"), {}, {}};
    if (!from)
        return {to, state.integer("toTag"), {}, {}};
    return {to, state.integer("toTag"), from, state.integer("fromTag")};
}

} // namespace

CallTable::CallTable(std::shared_ptr<const OpenedProject> project, Selection selection)
    : m_project(std::move(project)), m_rows(selection),
      m_states(m_project->existing_traces(),
               with_regions(m_project->project, without_names(std::move(selection))))
{
}

bool CallTable::read(std::size_t states)
{
    return m_walk.add_some(m_states, states);
}

CallColumns CallTable::take()
{
    m_columns.name.categories = m_names.texts();
    m_columns.call_class.categories = all_class_names();
    m_columns.communicator.categories = m_project->communicator_labels;
    m_columns.file.categories = m_project->file_labels;
    m_columns.window.categories = m_project->window_labels;
    m_columns.error.categories = m_errors.texts();
    m_sites.add_texts(m_columns.site);
    m_columns.region.categories = m_regions.texts();
    return std::exchange(m_columns, {});
}

void CallTable::add_row(const Call& call)
{
    const TraceFile& trace = call.trace;
    const State& state = call.state;
    const std::optional<Volume> volume = m_volumes.of(call);
    if (!m_rows.wants(state))
        return;
    const ObjectTable& objects = m_project->objects;
    const Project& project = m_project->project;
    const Partners partners = partners_of(state);
    const auto error = state.find("rc");

    m_columns.rank.values.push_back(static_cast<std::int32_t>(trace.rank));
    m_columns.thread.values.push_back(static_cast<std::int32_t>(trace.thread));
    m_columns.name.codes.push_back(m_names.code_of(state.name));
    m_columns.call_class.codes.push_back(static_cast<std::int32_t>(call.facts.call_class));
    m_columns.start.values.push_back(state.time);
    m_columns.end.values.push_back(state.end);
    m_columns.bytes.values.push_back(bytes_of(call, volume));
    m_columns.sent_bytes.values.push_back(volume.value_or(Volume()).sent);
    m_columns.recv_bytes.values.push_back(volume.value_or(Volume()).received);
    m_columns.peer.push(partners.peer);
    m_columns.tag.push(partners.tag);
    m_columns.recv_peer.push(partners.recv_peer);
    m_columns.recv_tag.push(partners.recv_tag);
    m_columns.root.push(state.integer("rootRank"));
    m_columns.communicator.codes.push_back(
        code_of(project.communicators, objects.communicator(trace.rank, state)));
    m_columns.file.codes.push_back(code_of(project.files, objects.file(trace.rank, state)));
    m_columns.window.codes.push_back(code_of(project.windows, objects.window(trace.rank, state)));
    m_columns.offset.push(state.integer("offset"));
    m_columns.request.push(state.integer("rid"));
    m_columns.error.codes.push_back(error ? m_errors.code_of(*error) : -1);
    m_columns.depth.values.push_back(call.depth);
    m_columns.line.values.push_back(state.line);
    m_columns.unfinished.values.push_back(state.is_unfinished());
    m_sites.add_row(m_columns.site, *m_project, trace.rank, state);
    m_columns.region.codes.push_back(m_regions.code_of(m_walk.regions(), call.region));
}

} // namespace hdtrace
