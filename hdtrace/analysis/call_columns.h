// call_columns.h - calls as a table with one row for each.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "hdtrace/analysis/call_rows.h"

namespace hdtrace {

struct CallColumns {
    Numbers<std::int32_t> rank, thread;
    ShortTexts name, call_class;
    Numbers<std::int64_t> start, end; ///< nanoseconds since the epoch
    Numbers<std::int64_t> bytes, sent_bytes, recv_bytes;
    OptionalNumbers peer, tag, recv_peer, recv_tag, root;
    ShortTexts communicator, file, window;
    OptionalNumbers offset, request;
    ShortTexts error;
    Numbers<std::int32_t> depth; ///< how many calls and regions are around it
    Numbers<std::int64_t> line;
    Numbers<std::uint8_t> unfinished;
    Numbers<std::uint8_t> nested; ///< the MPI library made it inside another call
    OptionalNumbers site;         ///< position in Project::call_sites
    ShortTexts function, source_file;
    OptionalNumbers source_line;
    ShortTexts region; ///< the innermost that it is in, as a path

    /// Calls @p see with the name and the column, one by one.
    template <class See> void for_each(See&& see)
    {
        see("rank", rank);
        see("thread", thread);
        see("name", name);
        see("class", call_class);
        see("start", start);
        see("end", end);
        see("bytes", bytes);
        see("sent_bytes", sent_bytes);
        see("recv_bytes", recv_bytes);
        see("peer", peer);
        see("tag", tag);
        see("recv_peer", recv_peer);
        see("recv_tag", recv_tag);
        see("root", root);
        see("communicator", communicator);
        see("file", file);
        see("window", window);
        see("offset", offset);
        see("request", request);
        see("error", error);
        see("depth", depth);
        see("line", line);
        see("unfinished", unfinished);
        see("nested", nested);
        see("site", site);
        see("function", function);
        see("source_file", source_file);
        see("source_line", source_line);
        see("region", region);
    }
};

/// Makes the columns, on all cores. Rows stand in the order in which calls ended, by the begin of their
/// states of the top level. Names and classes select rows at any depth.
class CallTable {
  public:
    CallTable(std::shared_ptr<const OpenedProject> project, Selection selection);
    CallTable(const CallTable&) = delete;
    CallTable& operator=(const CallTable&) = delete;

    /// Adds the rows of up to so many states of the top level; false at the end. Throws OpenError, ReadError.
    bool read(std::size_t states) { return m_reading.read(states); }
    /// The columns, which are empty afterwards. To be called at the end.
    CallColumns take();

    /// In the order of the traces.
    std::vector<MissingEnd> missing() const;

  private:
    std::shared_ptr<const OpenedProject> m_project;
    Selection m_wanted;           ///< what of the states of a trace becomes a row
    Selection m_read;             ///< what has to be read for that
    std::vector<CallRows> m_rows; ///< by process
    ByProcess<CallRowReader> m_reading;
};

} // namespace hdtrace
