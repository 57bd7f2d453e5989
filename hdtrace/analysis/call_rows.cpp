#include "hdtrace/analysis/call_rows.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "hdtrace/matching/saturated.h"

namespace hdtrace {
namespace {

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

CallRowReader::CallRowReader(std::shared_ptr<const OpenedProject> project, const Selection& rows,
                             const Selection& read, const ProcessTraces& process)
    : m_project(std::move(project)), m_wanted(rows), m_states(process, read),
      m_time(std::numeric_limits<std::int64_t>::min())
{
    m_rows.rank = static_cast<std::int32_t>(process.front().rank);
}

std::size_t CallRowReader::read(std::size_t states)
{
    for (std::size_t done = 0; done < states; ++done) {
        const State* const state = m_states.next();
        if (!state)
            return done;
        const std::size_t before = m_rows.start.size();
        m_time = std::max(m_time, state->time);
        m_walk.add(m_states.trace(), *state);
        if (m_rows.start.size() > before) {
            m_rows.times.push_back(m_time);
            m_rows.counts.push_back(static_cast<std::uint32_t>(m_rows.start.size() - before));
        }
    }
    return states;
}

CallRows CallRowReader::take()
{
    m_rows.names = m_names.texts();
    m_rows.errors = m_errors.texts();
    m_rows.regions = m_regions.texts();
    m_rows.missing = m_states.missing();
    return std::move(m_rows);
}

void CallRowReader::add_row(const Call& call)
{
    const TraceFile& trace = call.trace;
    const State& state = call.state;
    const std::optional<Volume> volume = m_volumes.of(call);
    m_arrivals.complete(call, [this](std::size_t row, const Volume& more) {
        m_rows.sent_bytes[row] = saturated_sum(m_rows.sent_bytes[row], more.sent);
        m_rows.recv_bytes[row] = saturated_sum(m_rows.recv_bytes[row], more.received);
        m_rows.bytes[row] = saturated_sum(m_rows.sent_bytes[row], m_rows.recv_bytes[row]);
    });
    if (!m_wanted.wants(trace) || !m_wanted.wants(state))
        return;
    const ObjectTable& objects = m_project->objects;
    const Project& project = m_project->project;
    const Partners partners = partners_of(state);
    const auto error = state.find("rc");

    if (volume && volume->posted > 0)
        m_arrivals.add(call, m_rows.start.size());
    m_rows.thread.push_back(static_cast<std::int32_t>(trace.thread));
    m_rows.name.push_back(m_names.code_of(state.name));
    m_rows.call_class.push_back(static_cast<std::int8_t>(call.facts.call_class));
    m_rows.start.push_back(state.time);
    m_rows.end.push_back(state.end);
    m_rows.bytes.push_back(bytes_of(call, volume));
    m_rows.sent_bytes.push_back(volume.value_or(Volume()).sent);
    m_rows.recv_bytes.push_back(volume.value_or(Volume()).received);
    m_rows.peer.push(partners.peer);
    m_rows.tag.push(partners.tag);
    m_rows.recv_peer.push(partners.recv_peer);
    m_rows.recv_tag.push(partners.recv_tag);
    m_rows.root.push(state.integer("rootRank"));
    m_rows.communicator.push_back(code_of(project.communicators, objects.communicator(trace.rank, state)));
    m_rows.file.push_back(code_of(project.files, objects.file(trace.rank, state)));
    m_rows.window.push_back(code_of(project.windows, objects.window(trace.rank, state)));
    m_rows.offset.push(state.integer("offset"));
    m_rows.request.push(state.integer("rid"));
    m_rows.error.push_back(error ? m_errors.code_of(*error) : -1);
    m_rows.depth.push_back(call.depth);
    m_rows.line.push_back(state.line);
    m_rows.unfinished.push_back(state.is_unfinished());
    m_rows.nested.push_back(call.is_inside_call);
    m_rows.site.push_back(code_of(project.call_sites, objects.call_site(trace.rank, state)));
    m_rows.region.push_back(m_regions.code_of(m_walk.regions(), call.region));
}

} // namespace hdtrace
