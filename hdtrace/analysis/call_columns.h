// call_columns.h - calls as a table with one row for each.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "hdtrace/analysis/columns.h"
#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/analysis/site_columns.h"
#include "hdtrace/matching/volumes.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

struct CallColumns {
    Numbers<std::int32_t> rank, thread;
    Texts name, call_class;
    Numbers<std::int64_t> start, end; ///< nanoseconds since the epoch
    Numbers<std::int64_t> bytes, sent_bytes, recv_bytes;
    OptionalNumbers peer, tag, recv_peer, recv_tag, root;
    Texts communicator, file, window;
    OptionalNumbers offset, request;
    Texts error;
    Numbers<std::int32_t> depth; ///< 0 is the top level
    Numbers<std::int64_t> line;
    Numbers<std::uint8_t> unfinished;
    SiteColumns site;
    Texts region; ///< the innermost that it is in, as a path

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
        site.for_each(see);
        see("region", region);
    }
};

/// Fills the columns in the order in which calls ended, by the begin of their states of the top level. Names
/// and classes select rows at any depth.
class CallTable : EventVisitor {
  public:
    /// Throws OpenError, ReadError.
    CallTable(std::shared_ptr<const OpenedProject> project, Selection selection);
    CallTable(const CallTable&) = delete;
    CallTable& operator=(const CallTable&) = delete;

    /// Adds the rows of up to so many states of the top level; false at the end. Throws ReadError.
    bool read(std::size_t states);
    /// The columns so far, which are empty afterwards.
    CallColumns take();

    const std::vector<MissingEnd>& missing() const { return m_states.missing(); }

  private:
    void leave(const Call& call) override { add_row(call); }
    void add_row(const Call& call);

    std::shared_ptr<const OpenedProject> m_project;
    Selection m_rows; ///< what of the states of a trace becomes a row
    MergedTraces m_states;
    Volumes m_volumes{m_project->objects};
    EventWalk m_walk{{this}, EventWalk::Follow::calls};
    TextIndex m_names, m_errors;
    SiteIndex m_sites;
    PathIndex m_regions;
    CallColumns m_columns;
};

} // namespace hdtrace
