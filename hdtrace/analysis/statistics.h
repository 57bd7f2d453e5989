// statistics.h - sums over calls, grouped in several ways at once.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hdtrace/analysis/columns.h"
#include "hdtrace/analysis/counter_sums.h"
#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/matching/volumes.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// Of the calls of one group. Times are in nanoseconds.
struct Totals {
    std::int64_t calls = 0;
    std::int64_t time = 0;
    std::int64_t exclusive = 0; ///< without the calls and regions inside them
    std::int64_t shortest = 0;
    std::int64_t longest = 0;
    std::int64_t bytes = 0; ///< sent and received, and those of states of the program's own
    Volume volume;
    std::int64_t entered = 0; ///< grouped by region: how often threads were in it and have left it
    std::int64_t inside = 0;  ///< and for how long
};

/// A label for each grouping of its table.
struct Group {
    std::vector<std::string> labels;
    Totals totals;
};

/// By what calls can be grouped.
enum class Grouping : std::uint8_t {
    call,
    call_class,
    rank,
    thread, ///< "rank.thread"
    peer,   ///< whom it sends to, else whom it receives from
    communicator,
    communicator_size, ///< how many members its communicator has
    file,
    size,   ///< of what is sent or received, the larger of both: from a power of two on
    site,   ///< where it was called, with all that led there
    region, ///< of the program's own, in which it was made, with all around it
};
constexpr std::size_t grouping_count = 11;

/// The groupings of one table: each group has the calls that are the same in all of them, and calls are in
/// none that have no group in one of them.
using Groupings = std::vector<Grouping>;

/// The name of a grouping as users write it.
std::string_view grouping_name(Grouping grouping);

/// Adds up calls of a project and the program's own regions, also those inside others, whose time is in that
/// of both. Grouped by region, calls are what is added up, in the innermost region. Marks and values of
/// counters are no calls. A call counts whole in the interval in which it begins, a region in that in which
/// it ends, so that what follows each other adds up: the end of an interval is in the next one. Memory grows
/// with the number of groups, and how deep calls and regions are nested.
class Statistics : EventVisitor {
  public:
    /// @p tables: what groups() will be asked for; none: each grouping by itself. Throws OpenError,
    /// ReadError.
    Statistics(std::shared_ptr<const OpenedProject> project, Selection selection,
               std::vector<Groupings> tables = {});
    Statistics(const Statistics&) = delete;
    Statistics& operator=(const Statistics&) = delete;

    /// Reads up to so many states of the top level; false at the end. Throws ReadError.
    bool read(std::size_t states);

    /// In ascending order if all groupings of the table are of numbers, such as ranks and sizes; else by
    /// their time, the largest first. Throws std::invalid_argument if that table was not asked for.
    std::vector<Group> groups(const Groupings& groupings) const;
    const Totals& totals() const { return m_totals; }
    /// Of the selected threads and time, whichever calls are selected.
    std::vector<CounterSum> counters() const { return m_counters.sums(); }
    /// Calls in which a process ended, or still is; they are in no sum, unless they were selected.
    std::int64_t unfinished() const { return m_unfinished; }
    /// Calls that lasted into the interval, but began before it; they are in no sum.
    std::int64_t begun_before() const { return m_begun_before; }
    /// When the first state began and the last one ended, also of unfinished ones; equal if there was none.
    std::int64_t begin() const { return m_begin; }
    std::int64_t end() const { return m_end; }
    const std::vector<MissingEnd>& missing() const { return m_states.missing(); }

  private:
    using Key = std::optional<std::int64_t>;
    using Keys = std::vector<std::int64_t>;
    struct KeysHash {
        std::size_t operator()(const Keys& keys) const;
    };
    struct Table {
        Groupings groupings;
        std::unordered_map<Keys, Totals, KeysHash> groups;
    };

    void leave(const Call& call) override { count(call); }
    void mark(const Call& event) override;
    void count(const Call& call);
    bool is_selected(const Call& call);
    void count_in(Table& table, const Call& call, const Totals& one);
    std::int64_t exclusive_time(const Call& call, std::int64_t time);
    Key key_of(Grouping grouping, const Call& call);
    Key size_key() const;
    std::string label_of(Grouping grouping, std::int64_t key) const;

    std::shared_ptr<const OpenedProject> m_project;
    Selection m_rows; ///< what is looked at of the states of a trace
    bool m_counts_unfinished;
    MergedTraces m_states;
    Volumes m_volumes{m_project->objects};
    EventWalk m_walk{{this}, EventWalk::Follow::calls};
    TextIndex m_names;
    TextIndex m_site_texts;
    std::vector<std::int32_t> m_site_codes; ///< of the project's call sites; several may look the same
    std::vector<Table> m_tables;
    std::array<bool, grouping_count> m_is_wanted{};
    std::array<Key, grouping_count> m_keys; ///< of the call that is counted, by those that are wanted
    std::optional<Volume> m_volume;         ///< of that call
    /// Of each thread, by rank and number: how much time the calls and regions took, by their depth, that
    /// have ended since the last one above them did.
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int64_t>> m_inside;
    CounterSums m_counters{m_project->project.run};
    Totals m_totals;
    bool m_is_any = false;
    std::int64_t m_begin = 0, m_end = 0;
    std::int64_t m_unfinished = 0;
    std::int64_t m_begun_before = 0;
};

} // namespace hdtrace
