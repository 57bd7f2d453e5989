// timeline.h - all that a picture of a run over time shows, packed for the page that draws it.
//
//     hdtrace::report::TimelineReader reader(project, history, waits, path);
//     while (reader.read(1000)) {
//     }
//     reader.lanes(), reader.shares(), ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/explaining/critical_path.h"
#include "hdtrace/explaining/history.h"
#include "hdtrace/explaining/wait_states.h"
#include "hdtrace/format/read_ahead.h"
#include "hdtrace/matching/messages.h"
#include "hdtrace/matching/walk.h"
#include "hdtrace/report/call_blocks.h"
#include "hdtrace/report/file_accesses.h"
#include "hdtrace/report/phrases.h"
#include "hdtrace/report/shares.h"

namespace hdtrace::report {

/// What a thread did.
struct Lane {
    std::int64_t rank = 0, thread = 0;
    std::string host;
    std::uint64_t call_count = 0, message_count = 0;
    std::size_t group = 0; ///< of neighbouring lanes
};

/// Reads all traces of a project once more, beside what is known of them. Memory grows with what it packs:
/// some ten bytes for each call. All that is given must outlive it.
class TimelineReader : EventVisitor {
  public:
    /// Throws OpenError, ReadError.
    TimelineReader(std::shared_ptr<const OpenedProject> project, const History& history,
                   const std::vector<WaitState>& waits, const std::vector<PathPart>& path);
    TimelineReader(const TimelineReader&) = delete;
    TimelineReader& operator=(const TimelineReader&) = delete;

    /// Reads up to so many states of the top level; false at the end. Throws ReadError.
    bool read(std::size_t states);

    const OpenedProject& project() const { return *m_project; }
    std::int64_t duration() const { return m_duration; } ///< nanoseconds
    std::size_t parts() const { return m_parts; }        ///< of the time of which shares are known

    // At the end:

    const std::vector<Lane>& lanes() const { return m_lanes; } ///< by rank and thread
    // Texts are streams of zlib; python/page/src/data says what is in them.
    /// What is drawn when one looks close, of each lane of a group one after the other: its calls in blocks,
    /// the messages that it received, its wait states, and regions, marks and counters of the program's own.
    const std::vector<std::string>& groups() const { return m_groups; }
    std::string shares() const; ///< of each lane one after the other
    std::string path() const;
    std::string gatherings(std::vector<std::string_view>& names) const;
    const std::vector<Phrase>& phrases() const { return m_phrases.all(); }
    const std::vector<std::string>& names() const { return m_names; } ///< of regions and marks
    const FileAccesses& file_accesses() const { return m_files; }

  private:
    struct Mark {
        std::int64_t begin = 0, end = 0;
        std::uint32_t name = 0, depth = 0;
        double value = 0; ///< of a counter
        char kind = 0;    ///< 0 is a region, 1 a mark, 2 a value
    };
    /// A message that a lane received. Times are since the beginning of the run.
    struct Received {
        std::int64_t sent = 0, end = 0, size = 0, tag = 0;
        std::uint32_t source = 0;       ///< the lane
        std::uint32_t communicator = 0; ///< position in Project::communicators plus one; 0 is unknown
    };
    /// What is collected for a lane while traces are read.
    struct Thread {
        CallBlocks calls;
        std::vector<Mark> marks;
        std::vector<Received> messages;
        std::string
            last_poll; ///< the last call of the top level, if that asked whether something has happened
        std::string last_site; ///< of it, as the trace says it
        std::int64_t last_end = 0;
        std::size_t left_out = 0; ///< series of polls that are drawn like calls
    };

    void enter(const Call& call) override;
    void leave(const Call& call) override;
    void mark(const Call& call) override;

    void add_message(const Message& message);
    void add_hosts();
    void add_call(std::uint32_t lane, const Call& call, std::int64_t begin);
    void add_left_out_polls(std::uint32_t lane, const Call& next);
    void finish();
    std::int64_t since_begin(std::int64_t time) const { return time - m_begin; }
    std::uint32_t name_number(const std::string& name);
    void pack_groups();
    void pack_lane(std::size_t number, Packed& group);
    static Packed pack_messages(std::vector<Received>& messages);
    static Packed pack_marks(std::vector<Mark>& marks);
    const std::uint32_t* lane_of(std::int64_t rank, std::int64_t thread) const;

    std::shared_ptr<const OpenedProject> m_project;
    const History& m_history;
    const std::vector<WaitState>& m_waits;
    const std::vector<PathPart>& m_path;
    const std::int64_t m_begin, m_duration;
    std::size_t m_parts;
    std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> m_numbers; ///< of lanes by rank and thread
    std::vector<Thread> m_threads;
    std::vector<Shares> m_shares;
    std::vector<Lane> m_lanes;
    std::vector<std::string> m_groups;
    Phrases m_phrases;
    std::vector<std::string> m_names;
    std::map<std::string, std::uint32_t> m_name_numbers;
    ReadAhead m_states;
    MessageMatcher m_messages;
    FileAccesses m_files;
    EventWalk m_walk{this, &m_messages, &m_files};
};

} // namespace hdtrace::report
