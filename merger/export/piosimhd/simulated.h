// Which calls the original simulator can bring to their end: those whose partners it does as well.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/collectives.h"
#include "hdtrace/matching/messages.h"
#include "merger/export/piosimhd/commands.h"

namespace hdtrace::exporter::piosimhd {

/// States of the top level have numbers in their trace, from 1 on. Takes a few bits for each of them.
class Simulated : public EventVisitor {
  public:
    /// Reads the traces. Throws OpenError, ReadError.
    Simulated(const Project& project, const ObjectTable& objects, const std::vector<TraceFile>& traces);

    bool sends(const TraceFile& trace, std::size_t number) const;
    bool receives(const TraceFile& trace, std::size_t number) const;
    /// A collective call, also one on a file.
    bool joins(const TraceFile& trace, std::size_t number) const;
    bool inits() const { return m_all_init; }
    bool finalizes() const { return m_all_finalize; }

    /// Of all states, in nanoseconds since the epoch; 0 if there are none.
    std::int64_t begin() const { return m_begin <= m_end ? m_begin : 0; }
    std::int64_t end() const { return m_begin <= m_end ? m_end : 0; }

    void enter(const Call& call) override;

  private:
    using Key = std::pair<std::int64_t, std::int64_t>; ///< rank and thread
    using Numbers = std::vector<bool>;
    struct Marks {
        Numbers candidates, sends, receives, joins;
    };

    struct Shape {
        bool is_one_group = true;
        /// The simulator translates a root's rank twice, which is only right where this is so.
        bool has_ranks_of_world = true;
    };

    static void add_line(Numbers& numbers, std::size_t number);
    static bool has(const Numbers& numbers, std::size_t number);
    const Marks* marks_of(const TraceFile& trace) const;
    bool is_candidate(std::int64_t rank, const MessageEnd& end) const;
    bool can_be_done(const Call& call, const Command& command);
    bool can_be_collective(std::int64_t rank, const State& state, bool has_root);
    static Shape shape_of(const Communicator& communicator);
    void match(const Message& message);
    void match(const Collective& collective);
    void walk(const std::vector<TraceFile>& traces);
    void look_at_ends(const Project& project, const std::vector<TraceFile>& traces);

    const ObjectTable& m_objects;
    std::map<Key, Marks> m_marks;
    std::map<const Communicator*, Shape> m_shapes;
    std::map<std::int64_t, int> m_inits, m_finalizes; ///< how many each process makes
    bool m_all_init = false, m_all_finalize = false;
    std::int64_t m_begin = std::numeric_limits<std::int64_t>::max();
    std::int64_t m_end = std::numeric_limits<std::int64_t>::min();
};

} // namespace hdtrace::exporter::piosimhd
