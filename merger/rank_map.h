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
/// Members of other worlds have negative numbers, by which only this process knows them.
class RankMap {
  public:
    RankMap() = default;
    /// Parses `0->0;1->1;` and ranges `0..1023->0..1023;`. Throws std::invalid_argument that says what is
    /// wrong.
    explicit RankMap(std::string_view text);

    /// Runs in any order. Throws as above.
    RankMap(std::vector<RankRun> runs, std::vector<RankRun> foreign);

    static RankMap identity(std::int64_t count);
    /// The same members with world ranks that are larger by @p offset.
    RankMap shifted(std::int64_t offset) const;

    const std::vector<RankRun>& runs() const { return m_runs; }
    /// The members of other worlds, in the order of their numbers.
    const std::vector<RankRun>& foreign() const { return m_foreign; }
    /// Without any member, even of another world.
    bool empty() const { return m_runs.empty() && m_foreign.empty(); }
    std::int64_t size() const;
    std::int64_t foreign_count() const;
    std::int64_t size_of_all() const { return size() + foreign_count(); }
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

    /// Whoever the members of other worlds are.
    bool operator==(const RankMap& other) const
    {
        return m_runs == other.m_runs && foreign_count() == other.foreign_count();
    }

  private:
    std::vector<RankRun> m_runs;
    std::vector<RankRun> m_foreign;
};

/// Different for different maps.
std::string to_string(const RankMap& map);

} // namespace hdtrace::merger
