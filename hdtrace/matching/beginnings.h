// beginnings.h - of which processes the first calls were given up for later ones (`--keep-last`), and what of
// the rest can be counted from the end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "hdtrace/format/proj_reader.h"
#include "hdtrace/matching/events.h"

namespace hdtrace {

/// Order tells what belongs together: the n-th that one process sends is the n-th that another one receives.
/// Where first calls are missing this is only known by counting from the end, behind which nothing is left of
/// a program that is right: when all concerned have called MPI_Finalize. For one thread at a time.
class Beginnings {
  public:
    /// @p project must outlive it.
    explicit Beginnings(const Project& project);

    /// Whether first calls of any process are missing.
    bool are_missing() const { return !m_missing.empty(); }
    bool is_missing(std::int64_t rank) const { return m_missing.contains(rank); }

    /// A call or a region that has ended, or a mark. All have to be told, once each.
    void note(const Call& call);
    /// From when on all calls of all threads of a process are there, in nanoseconds since the epoch. Nothing
    /// if it was not seen that it called MPI_Finalize. When all calls were told.
    std::optional<std::int64_t> complete_from(std::int64_t rank) const;

  private:
    using Thread = std::pair<std::int64_t, std::int64_t>; // rank and number

    bool has_begun_before(const Thread& thread, std::int64_t time) const;
    void note_start(const Call& call, const Element& start);

    const Project& m_project;
    std::set<std::int64_t> m_missing;
    std::set<std::int64_t> m_finalized;
    std::map<Thread, std::int64_t> m_first;                     ///< when the first of it was that is there
    std::set<std::pair<std::int64_t, std::int64_t>> m_prepared; ///< requests, by rank and rid
    std::map<std::int64_t, std::int64_t>
        m_unknown; ///< until when a process started what it had prepared before
};

} // namespace hdtrace
