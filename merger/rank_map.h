// Which process has which rank in a communicator: the `map` of a Comm line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hdtrace::merger {

/// The most processes that one program may have. Larger numbers come from broken files.
inline constexpr std::int64_t process_limit = std::int64_t{1} << 24;

/// Consecutive world ranks with consecutive local ranks.
struct RankRun {
    std::int64_t world;
    std::int64_t local;
    std::int64_t count;

    bool operator==(const RankRun&) const = default;
};

/// Held as runs in the order of the world ranks, so that equal maps compare equal and large ones stay small.
/// Members of another world are only counted.
class RankMap {
  public:
    RankMap() = default;
    /// Parses `0->0;1->1;` and ranges `0..1023->0..1023;`. Throws std::invalid_argument that says what is
    /// wrong.
    explicit RankMap(std::string_view text);

    /// What runs() and foreign_count() of another map say.
    RankMap(std::vector<RankRun> runs, std::int64_t foreign_count)
        : m_runs(std::move(runs)), m_foreign_count(foreign_count)
    {
    }

    static RankMap identity(std::int64_t count);

    const std::vector<RankRun>& runs() const { return m_runs; }
    /// Without any member, even of another world.
    bool empty() const { return m_runs.empty() && m_foreign_count == 0; }
    std::int64_t size() const;
    std::int64_t foreign_count() const { return m_foreign_count; }
    bool contains(std::int64_t world_rank) const;
    /// World ranks; `process_limit` and -1 where all members are of another world.
    std::int64_t lowest() const { return m_runs.empty() ? process_limit : m_runs.front().world; }
    std::int64_t highest() const
    {
        return m_runs.empty() ? -1 : m_runs.back().world + m_runs.back().count - 1;
    }

    /// Calls handle(world rank, local rank) for each member of this world, in the order of the world ranks.
    template <typename Handle> void for_each(Handle handle) const
    {
        for (const RankRun& run : m_runs) {
            for (std::int64_t i = 0; i < run.count; ++i)
                handle(run.world + i, run.local + i);
        }
    }

    bool operator==(const RankMap&) const = default;

  private:
    void add(const RankRun& run);

    std::vector<RankRun> m_runs;
    std::int64_t m_foreign_count = 0;
};

/// Different for different maps.
std::string to_string(const RankMap& map);

} // namespace hdtrace::merger
