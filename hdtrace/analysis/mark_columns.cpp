#include "hdtrace/analysis/mark_columns.h"

#include <utility>

namespace hdtrace {

MarkTable::MarkTable(std::shared_ptr<const OpenedProject> project, Selection selection)
    : m_events(std::move(project), std::move(selection), EventKind::mark)
{
}

bool MarkTable::read(std::size_t states)
{
    return m_events.read(states, [this](const State& event) { add_row(event); });
}

void MarkTable::add_row(const State& event)
{
    const TraceFile& trace = m_events.trace();
    const auto code_of = [&event](TextIndex& index, std::string_view key) {
        const auto text = event.find(key);
        return text ? index.code_of(*text) : -1;
    };
    m_columns.rank.values.push_back(static_cast<std::int32_t>(trace.rank));
    m_columns.thread.values.push_back(static_cast<std::int32_t>(trace.thread));
    m_columns.time.values.push_back(event.time);
    m_columns.name.codes.push_back(code_of(m_names, "name"));
    m_columns.text.codes.push_back(code_of(m_texts, "text"));
    m_sites.add_row(m_columns.site, m_events.project(), trace.rank, event);
    m_columns.region.codes.push_back(m_paths.code_of(m_events.regions(), m_events.region()));
    m_columns.line.values.push_back(event.line);
}

MarkColumns MarkTable::take()
{
    m_columns.name.categories = m_names.texts();
    m_columns.text.categories = m_texts.texts();
    m_sites.add_texts(m_columns.site);
    m_columns.region.categories = m_paths.texts();
    return std::exchange(m_columns, {});
}

} // namespace hdtrace
