/* message_columns.h - messages one by one, and as a table with one row for each. */
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hdtrace/analysis/columns.h"
#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/reader/merged_traces.h"
#include "hdtrace/reader/messages.h"

namespace hdtrace {

/** One end of all messages; what a message lacks is missing. */
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

/** Finds the messages of a project, in the order in which their second ends are known. */
class MessageReader {
  public:
    /** Throws OpenError, ReadError. */
    explicit MessageReader(std::shared_ptr<const OpenedProject> project);

    /** The messages that so many calls tell; at the end those of which one end is missing. Throws ReadError.
     */
    std::vector<Message> read(std::size_t calls);
    bool at_end() const { return m_at_end; }
    const std::vector<std::string>& missing() const { return m_states.missing(); }
    const OpenedProject& project() const { return *m_project; }

  private:
    std::shared_ptr<const OpenedProject> m_project;
    MergedTraces m_states;
    std::vector<Message> m_found;
    MessageMatcher m_matcher;
    bool m_at_end = false;
};

/** Puts all messages into columns. */
class MessageTable {
  public:
    explicit MessageTable(std::shared_ptr<const OpenedProject> project) : m_reader(std::move(project)) {}

    /** Adds what so many calls tell; false at the end. Throws ReadError. */
    bool read(std::size_t calls);
    /** The columns so far, which are empty afterwards. */
    MessageColumns take();

    const std::vector<std::string>& missing() const { return m_reader.missing(); }

  private:
    void add_row(const Message& message);

    MessageReader m_reader;
    MessageColumns m_columns;
};

} // namespace hdtrace
