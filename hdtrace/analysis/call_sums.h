// call_sums.h - sums over calls, grouped in several ways at once.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hdtrace/analysis/columns.h"
#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/matching/volumes.h"

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

/// Sums over the calls of both.
void add_to(Totals& totals, const Totals& more);

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

/// Where something stands in the order of MergedTraces of a project.
struct StatePlace {
    std::int64_t time = 0;   ///< of the state of the top level; of one before it, if it goes back in time
    std::int64_t rank = 0;   ///< of the process
    std::int64_t state = 0;  ///< of the top level, in the order of its process
    std::int32_t number = 0; ///< of what is in that state

    auto operator<=>(const StatePlace&) const = default;
};

/// What the groups of a project are called.
class GroupLabels {
  public:
    explicit GroupLabels(std::shared_ptr<const OpenedProject> project);

    const OpenedProject& project() const { return *m_project; }
    /// The group of a call site, for Grouping::site; several may look the same.
    std::int32_t code_of(const CallSite& site) const
    {
        return m_site_codes[position_in(m_project->project.call_sites, site)];
    }
    /// Of a group by anything but names and regions.
    std::string text(Grouping grouping, std::int64_t key) const;

  private:
    std::shared_ptr<const OpenedProject> m_project;
    TextIndex m_site_texts;
    std::vector<std::int32_t> m_site_codes;
};

/// For Grouping::size; none where no data is moved.
std::optional<std::int64_t> size_key(const std::optional<Volume>& volume);

/// A number for a rank and one of its threads, in their order.
std::int64_t thread_key(const TraceFile& trace);

/// Sums of the calls of some processes, which can be merged with those of others, in any order.
class CallSums {
  public:
    using Key = std::optional<std::int64_t>;
    /// What a call is counted as, by Grouping; where it has no group, it is in no table with that grouping.
    using Keys = std::array<Key, grouping_count>;

    explicit CallSums(const std::vector<Groupings>& tables);
    CallSums(const CallSums&) = delete;
    CallSums& operator=(const CallSums&) = delete;

    /// Keys for Grouping::call and Grouping::region. Places have to be in ascending order.
    std::int32_t code_of_name(std::string_view name, const StatePlace& place)
    {
        return m_names.code_of(name, place);
    }
    std::int32_t code_of_region(const RegionPaths& paths, std::int32_t path, const StatePlace& place);
    /// By the text of the path; empty outside of all.
    std::int32_t code_of_region(std::string_view path, const StatePlace& place)
    {
        return m_regions.code_of(path, place);
    }

    void add_call(const Keys& keys, const Totals& calls);
    /// Only in tables by region they are visits of one.
    void add_region(const Keys& keys, const Totals& visits);
    void add_time(const State& state);

    void merge(const CallSums& others);

    /// In ascending order if all groupings of the table are of numbers, such as ranks and sizes; else by
    /// their time, the largest first, and of equal ones those first that were seen first. Throws
    /// std::invalid_argument if there is no such table.
    std::vector<Group> groups(const Groupings& groupings, const GroupLabels& labels) const;
    const Totals& totals() const { return m_totals; }
    std::int64_t begin() const { return m_begin; }
    std::int64_t end() const { return m_end; }

  private:
    using TableKeys = std::vector<std::int64_t>;
    struct KeysHash {
        std::size_t operator()(const TableKeys& keys) const;
    };
    struct Table {
        Groupings groupings;
        bool is_by_region;
        std::unordered_map<TableKeys, Totals, KeysHash> groups;
        std::array<std::pair<const TableKeys, Totals>*, 64> recent; ///< by their keys' hash; may be null
    };

    /// Texts, and where they were seen first.
    class SeenTexts {
      public:
        std::int32_t code_of(std::string_view text, const StatePlace& place);
        /// Adds those of others, and returns the codes that their codes are here.
        std::vector<std::int32_t> merge(const SeenTexts& others);
        /// By code: the position among all of them in the order in which they were seen.
        std::vector<std::int32_t> positions() const;
        const std::string& text(std::int64_t code) const { return m_texts.texts()[code]; }

      private:
        TextIndex m_texts;
        std::vector<StatePlace> m_places;
    };

    Totals* group_of(Table& table, const Keys& keys);
    std::string label_of(Grouping grouping, std::int64_t key, const GroupLabels& labels) const;

    std::vector<Table> m_tables;
    TableKeys m_table_keys; ///< those that are looked up, whose memory is used again
    SeenTexts m_names;
    SeenTexts m_regions;                      ///< whose paths read the same are one
    std::vector<std::int32_t> m_region_codes; ///< by path, -1: not used yet
    Totals m_totals;
    bool m_is_any = false;
    std::int64_t m_begin = 0, m_end = 0;
};

} // namespace hdtrace
