#include "hdtrace/analysis/counter_columns.h"

#include <utility>

namespace hdtrace {
CounterTable::CounterTable(std::shared_ptr<const OpenedProject> project, Selection selection)
    : m_events(std::move(project), std::move(selection), EventKind::count),
      m_definitions(m_events.project().project.run, "Counter")
{
}

bool CounterTable::read(std::size_t states)
{
    return m_events.read(states, [this](const State& event) { add_row(event); });
}

void CounterTable::add_row(const State& event)
{
    const TraceFile& trace = m_events.trace();
    const auto name = event.find("name");
    const Element* const definition = name ? m_definitions.find(*name) : nullptr;
    const auto unit = definition ? definition->find("unit") : std::nullopt;

    m_columns.rank.values.push_back(static_cast<std::int32_t>(trace.rank));
    m_columns.thread.values.push_back(static_cast<std::int32_t>(trace.thread));
    m_columns.time.values.push_back(event.time);
    m_columns.name.codes.push_back(name ? m_names.code_of(*name) : -1);
    m_columns.value.values.push_back(counter_value(event));
    m_columns.integer.push(counter_integer(event));
    m_columns.unit.codes.push_back(unit ? m_units.code_of(*unit) : -1);
    m_columns.region.codes.push_back(m_paths.code_of(m_events.regions(), m_events.region()));
    m_columns.line.values.push_back(event.line);
}

CounterColumns CounterTable::take()
{
    m_columns.name.categories = m_names.texts();
    m_columns.unit.categories = m_units.texts();
    m_columns.region.categories = m_paths.texts();
    return std::exchange(m_columns, {});
}

} // namespace hdtrace
