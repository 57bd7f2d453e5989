// regions.h - which regions of the program's own (docs/regions.md) threads are in.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hdtrace/format/traces.h"

namespace hdtrace {

/// Regions inside each other, numbered: a path is the number of the last region of one, such as
/// `solve/exchange`. Memory grows with the number of different paths. Those that are nested too deeply, as
/// where a program forgets to end them, stand side by side in one that is called `...`.
class RegionPaths {
  public:
    static constexpr std::int32_t outside = 0; ///< of any region
    static constexpr int most_nested = 100;

    /// That of a region with this name inside others.
    std::int32_t inside(std::int32_t path, const std::string& name);
    /// The names from the outermost one on, with slashes between them, and a backslash before each slash and
    /// backslash that belongs to a name; empty outside.
    std::string text(std::int32_t path) const;

  private:
    std::int32_t add(std::int32_t around, const std::string& name);
    int depth(std::int32_t path) const { return path == outside ? 0 : m_known[path - 1].depth; }

    struct Step {
        std::int32_t around;
        std::int32_t name;
        bool operator==(const Step&) const = default;
    };
    struct Path {
        std::int32_t around;
        const std::string* name;
        int depth; ///< 1 outside of others
    };
    struct Hash {
        std::size_t operator()(const Step& step) const
        {
            return std::hash<std::int64_t>()((static_cast<std::int64_t>(step.around) << 32) ^ step.name);
        }
    };

    std::unordered_map<std::string, std::int32_t> m_names;
    std::unordered_map<Step, std::int32_t, Hash> m_paths;
    std::vector<Path> m_known; ///< by their numbers, from 1 on
};

/// The regions that threads are in. An end belongs to the last beginning of its name.
class OpenRegions {
  public:
    struct Region {
        std::string name;
        std::int64_t time = 0;    ///< of its beginning, in nanoseconds since the epoch
        std::int64_t line = 0;    ///< where that stands
        std::int32_t around = 0;  ///< the path of those that it began in
        std::int32_t path = 0;    ///< with itself
        std::int64_t number = -1; ///< that begin() was given
        std::int32_t depth = 0;   ///< of one that ends: how many are around it
        /// Of one that ends: when the first one began in it that goes on without it.
        std::optional<std::int64_t> overlapped_from = {};
    };

    /// The thread enters the region that the event names.
    const Region& begin(const TraceFile& trace, const State& event, std::int64_t number = -1);
    /// The thread leaves it. Of a region whose beginning was not read the time is that of the end.
    Region end(const TraceFile& trace, const State& event);
    /// Does what an event says, and those inside a state.
    void follow(const TraceFile& trace, const State& state);

    std::int32_t depth(const TraceFile& trace) const;
    std::int32_t path(const TraceFile& trace) const;
    const RegionPaths& paths() const { return m_paths; }

  private:
    using Thread = std::pair<std::int64_t, std::int64_t>; // rank and number

    const std::vector<Region>* of(const TraceFile& trace) const;

    RegionPaths m_paths;
    std::map<Thread, std::vector<Region>> m_open; ///< the innermost last
};

/// What an event of the program's own is.
enum class EventKind : std::uint8_t { mark, begin, end, count };

EventKind event_kind(const State& event);

/// Of an event that tells the value of a counter: NaN if that is no number.
double counter_value(const State& event);
/// The same exactly, if it is written as an integer.
std::optional<std::int64_t> counter_integer(const State& event);

} // namespace hdtrace
