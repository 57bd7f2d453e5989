// collective_columns.h - collective operations as a table with one row for each call.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hdtrace/analysis/columns.h"
#include "hdtrace/analysis/match_reader.h"

namespace hdtrace {

struct CollectiveColumns {
    Numbers<std::int64_t> operation; ///< calls with equal numbers belong together
    Texts communicator, name;
    Numbers<std::int32_t> rank, thread;
    OptionalNumbers root;
    Numbers<std::int64_t> bytes, start, end, line;

    template <class See> void for_each(See&& see)
    {
        see("operation", operation);
        see("communicator", communicator);
        see("name", name);
        see("rank", rank);
        see("thread", thread);
        see("root", root);
        see("bytes", bytes);
        see("start", start);
        see("end", end);
        see("line", line);
    }
};

/// Puts all calls of collective operations into columns.
class CollectiveTable {
  public:
    explicit CollectiveTable(std::shared_ptr<const OpenedProject> project) : m_reader(std::move(project)) {}

    /// Adds what so many calls tell; false at the end. Throws ReadError.
    bool read(std::size_t calls);
    /// The columns so far, which are empty afterwards.
    CollectiveColumns take();

    std::vector<MissingEnd> missing() const { return m_reader.missing(); }

  private:
    void add_rows(const Collective& collective);

    CollectiveReader m_reader;
    TextIndex m_names;
    CollectiveColumns m_columns;
    std::int64_t m_operations = 0;
};

} // namespace hdtrace
