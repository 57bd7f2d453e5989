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
class Beginnings : public EventVisitor {
  public:
    /// @p project must outlive it.
    explicit Beginnings(const Project& project);

    /// Whether first calls of any process are missing.
    bool are_missing() const { return !m_missing.empty(); }
    bool is_missing(std::int64_t rank) const { return m_missing.contains(rank); }
    bool is_missing(std::int64_t one, std::int64_t other) const
    {
        return are_missing() && (is_missing(one) || is_missing(other));
    }

    /// All calls, regions and marks have to be told, once each, if any are missing.
    void leave(const Call& call) override;
    void mark(const Call& call) override;
    /// From when on all calls of all threads of a process are there, in nanoseconds since the epoch. Nothing
    /// if it was not seen that it called MPI_Finalize. When all calls were told.
    std::optional<std::int64_t> complete_from(std::int64_t rank) const;

  private:
    using Thread = std::pair<std::int64_t, std::int64_t>; // rank and number

    void note_thread(const Thread& thread, std::int64_t time);
    void note_start(const Call& call, const Element& start);
    void begin_later(std::int64_t rank, std::int64_t time);
    bool has_begun_before(const Thread& thread, std::int64_t time) const;

    const Project& m_project;
    std::set<std::int64_t> m_missing;
    std::set<std::int64_t> m_finalized;
    std::set<Thread> m_threads;                                 ///< of which anything is there
    std::set<std::pair<std::int64_t, std::int64_t>> m_prepared; ///< requests, by rank and rid
    std::map<std::int64_t, std::int64_t> m_from; ///< by rank; all is there of processes that are not in it
};

} // namespace hdtrace
