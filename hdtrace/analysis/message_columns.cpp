#include "hdtrace/analysis/message_columns.h"

#include <utility>

namespace hdtrace {

void EndColumns::push(const std::optional<MessageEnd>& end_of_message)
{
    const auto value_of = [&](std::int64_t MessageEnd::*value) {
        return end_of_message ? std::optional((*end_of_message).*value) : std::nullopt;
    };
    thread.push(value_of(&MessageEnd::thread));
    start.push(value_of(&MessageEnd::time));
    const bool is_complete = end_of_message && end_of_message->is_complete;
    end.push(is_complete && end_of_message->end_is_known ? value_of(&MessageEnd::end) : std::nullopt);
    bytes.push(is_complete ? value_of(&MessageEnd::size) : std::nullopt);
    const bool is_blocking = end_of_message && end_of_message->rid < 0;
    request.push(is_blocking ? std::nullopt : value_of(&MessageEnd::rid));
    line.push(value_of(&MessageEnd::line));
}

bool MessageTable::read(std::size_t calls)
{
    for (const Message& message : m_reader.read(calls))
        add_row(message);
    return !m_reader.at_end();
}

void MessageTable::add_row(const Message& message)
{
    const auto& communicators = m_reader.project().project.communicators;
    m_columns.source.values.push_back(message.source);
    m_columns.destination.values.push_back(message.destination);
    m_columns.tag.values.push_back(message.tag);
    m_columns.communicator.codes.push_back(
        message.communicator ? position_in(communicators, *message.communicator) : -1);
    m_columns.send.push(message.send);
    m_columns.receive.push(message.receive);
}

MessageColumns MessageTable::take()
{
    m_columns.communicator.categories = m_reader.project().communicator_labels;
    return std::exchange(m_columns, {});
}

} // namespace hdtrace
