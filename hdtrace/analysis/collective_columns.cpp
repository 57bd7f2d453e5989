#include "hdtrace/analysis/collective_columns.h"

namespace hdtrace {

bool CollectiveTable::read(std::size_t calls)
{
    for (const Collective& collective : m_reader.read(calls))
        add_rows(collective);
    return !m_reader.at_end();
}

void CollectiveTable::add_rows(const Collective& collective)
{
    const std::int32_t communicator =
        position_in(m_reader.project().project.communicators, *collective.communicator);
    for (const CollectiveCall& call : collective.calls) {
        if (call.has_failed)
            continue;
        m_columns.operation.values.push_back(m_operations);
        m_columns.communicator.codes.push_back(communicator);
        m_columns.name.codes.push_back(m_names.code_of(call.name));
        m_columns.rank.values.push_back(static_cast<std::int32_t>(call.rank));
        m_columns.thread.values.push_back(static_cast<std::int32_t>(call.thread));
        m_columns.root.push(call.root);
        m_columns.bytes.values.push_back(call.bytes);
        m_columns.start.values.push_back(call.start);
        m_columns.end.values.push_back(call.end);
        m_columns.line.values.push_back(call.line);
    }
    ++m_operations;
}

CollectiveColumns CollectiveTable::take()
{
    m_columns.communicator.categories = m_reader.project().communicator_labels;
    m_columns.name.categories = m_names.texts();
    return std::exchange(m_columns, {});
}

} // namespace hdtrace
