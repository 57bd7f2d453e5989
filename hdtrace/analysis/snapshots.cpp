#include "hdtrace/analysis/snapshots.h"

#include <algorithm>
#include <limits>

#include "hdtrace/analysis/call_index.h"

namespace hdtrace {

using namespace index_form;

namespace {

constexpr std::size_t most_taken = 512;
constexpr std::size_t most_memory = std::size_t{64} << 20;

Selection everything()
{
    Selection selection;
    selection.unfinished = true;
    return selection;
}

} // namespace

SnapshotMaker::SnapshotMaker(const std::shared_ptr<const OpenedProject>& project, std::int64_t distance)
    : m_states(project->existing_traces(), everything()), m_in_flight(project), m_distance(distance),
      m_last_time(std::numeric_limits<std::int64_t>::min())
{
    const std::vector<TraceFile> traces = project->existing_traces();
    const std::vector<ProcessTraces> processes = traces_by_process(traces, {});
    std::map<std::string, Place> places;
    for (std::size_t process = 0; process < processes.size(); ++process) {
        m_processes.emplace(processes[process].front().path, process);
        for (std::size_t trace = 0; trace < processes[process].size(); ++trace)
            places[processes[process][trace].path] = {process, trace};
    }
    for (const TraceFile& trace : traces)
        m_places.push_back(places.at(trace.path));
}

bool SnapshotMaker::read(std::size_t states)
{
    for (; states > 0; --states) {
        State* const state = m_states.next();
        if (!state)
            return false;
        if (m_since_last >= m_distance && state->time > m_last_time)
            take(state->time - 1);
        m_last_time = std::max(m_last_time, state->time);
        ++m_since_last;
        m_in_flight.add(m_states.trace(), *state);
    }
    return true;
}

void SnapshotMaker::take(std::int64_t moment)
{
    m_in_flight.advance(moment);
    m_since_last = 0;
    const Snapshot snapshot = m_in_flight.snapshot();
    Texts& texts = m_taken.emplace_back(Texts{moment, std::vector<std::string>(m_processes.size()), 0});
    const auto add = [&](std::size_t trace, Item item) {
        item.trace = m_places[trace].trace;
        texts.of_process[m_places[trace].process] += line_of(item);
    };
    for (std::size_t number = 0; number < snapshot.begun.size(); ++number) {
        const Snapshot::Begun& begun = snapshot.begun[number];
        Item item;
        item.kind = Item::Kind::kept;
        item.position = {begun.state.time, static_cast<std::int64_t>(number)};
        item.state = begun.state;
        add(begun.trace, std::move(item));
    }
    for (std::size_t trace = 0; trace < snapshot.last.size(); ++trace) {
        Item item;
        item.kind = Item::Kind::last;
        item.position.time = snapshot.last[trace].end;
        item.name = snapshot.last[trace].name;
        add(trace, std::move(item));
    }
    for (const std::string& text : texts.of_process)
        texts.size += text.size();
    m_size += texts.size;
    if (m_taken.size() > most_taken || (m_size > most_memory && m_taken.size() > 1))
        thin_out();
}

void SnapshotMaker::thin_out()
{
    std::vector<Texts> kept;
    m_size = 0;
    for (std::size_t i = 1; i < m_taken.size(); i += 2) {
        m_size += m_taken[i].size;
        kept.push_back(std::move(m_taken[i]));
    }
    m_taken = std::move(kept);
    m_distance *= 2;
}

std::vector<SnapshotText> SnapshotMaker::of(const ProcessTraces& process) const
{
    std::vector<SnapshotText> texts;
    const std::size_t number = m_processes.at(process.front().path);
    for (const Texts& taken : m_taken)
        texts.push_back({taken.moment, taken.of_process[number]});
    return texts;
}

std::optional<Snapshot> last_snapshot(const OpenedProject& project, std::int64_t moment)
{
    const std::vector<TraceFile> traces = project.existing_traces();
    std::map<std::string, std::size_t> places;
    for (std::size_t place = 0; place < traces.size(); ++place)
        places[traces[place].path] = place;
    std::map<std::int64_t, Snapshot::Begun> begun; // in the order of the run
    std::optional<Snapshot> snapshot;
    try {
        for (const ProcessTraces& process : traces_by_process(traces, {})) {
            if (!CallIndex::is_there(process))
                return std::nullopt;
            const CallIndex index(project.project, process);
            const SnapshotPart* const part = index.last_snapshot(snapshot ? snapshot->moment : moment);
            if (!part || (snapshot && part->moment != snapshot->moment))
                return std::nullopt;
            if (!snapshot)
                snapshot = Snapshot{part->moment, {}, std::vector<Snapshot::LastCall>(traces.size())};
            for (Item& item : index.items_of(*part)) {
                const std::size_t trace = places.at(process[item.trace].path);
                if (item.kind == Item::Kind::last)
                    snapshot->last[trace] = {item.position.time, item.name};
                else
                    begun[item.position.state] = {trace, std::move(item.state)};
            }
        }
    } catch (const IndexError&) {
        return std::nullopt;
    }
    for (auto& [number, one] : begun)
        snapshot->begun.push_back(std::move(one));
    return snapshot;
}

} // namespace hdtrace
