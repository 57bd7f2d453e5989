// message_columns.h - messages as a table with one row for each.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hdtrace/analysis/columns.h"
#include "hdtrace/analysis/match_reader.h"

namespace hdtrace {

/// One end of all messages; what a message lacks is missing.
struct EndColumns {
    OptionalNumbers thread, start, end, bytes, request, line;

    void push(const std::optional<MessageEnd>& end_of_message);
};

struct MessageColumns {
    Numbers<std::int64_t> source, destination, tag;
    Texts communicator;
    EndColumns send, receive;

    template <class See> void for_each(See&& see)
    {
        see("source", source);
        see("destination", destination);
        see("tag", tag);
        see("communicator", communicator);
        for (const auto& [prefix, end] : {std::pair("send_", &send), std::pair("receive_", &receive)}) {
            const std::string begin = prefix;
            see(begin + "thread", end->thread);
            see(begin + "start", end->start);
            see(begin + "end", end->end);
            see(begin + "bytes", end->bytes);
            see(begin + "request", end->request);
            see(begin + "line", end->line);
        }
    }
};

/// Puts all messages into columns.
class MessageTable {
  public:
    explicit MessageTable(std::shared_ptr<const OpenedProject> project) : m_reader(std::move(project)) {}

    /// Adds what so many calls tell; false at the end. Throws ReadError.
    bool read(std::size_t calls);
    /// The columns so far, which are empty afterwards.
    MessageColumns take();

    std::vector<MissingEnd> missing() const { return m_reader.missing(); }

  private:
    void add_row(const Message& message);

    MessageReader m_reader;
    MessageColumns m_columns;
};

} // namespace hdtrace
