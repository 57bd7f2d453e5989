// Which process has which rank in a communicator: the `map` of a Comm line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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
class RankMap {
  public:
    RankMap() = default;
    /// Parses `0->0;1->1;` and ranges `0..1023->0..1023;`. Throws std::invalid_argument that says what is wrong.
    explicit RankMap(std::string_view text);

    static RankMap identity(std::int64_t count);

    const std::vector<RankRun>& runs() const { return m_runs; }
    bool empty() const { return m_runs.empty(); }
    std::int64_t size() const;
    bool contains(std::int64_t world_rank) const;
    /// A map that is not empty has a lowest and a highest world rank.
    std::int64_t lowest() const { return m_runs.front().world; }
    std::int64_t highest() const { return m_runs.back().world + m_runs.back().count - 1; }

    bool operator==(const RankMap&) const = default;

  private:
    std::vector<RankRun> m_runs;
};

/// The map in the syntax of .info files, as ranges.
std::string to_string(const RankMap& map);

} // namespace hdtrace::merger
