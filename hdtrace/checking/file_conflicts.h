// file_conflicts.h - accesses of several processes to the same bytes of a file that nothing orders.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "hdtrace/checking/causal_order.h"
#include "hdtrace/checking/findings.h"
#include "hdtrace/checking/pair_limit.h"
#include "hdtrace/matching/file_views.h"

namespace hdtrace {

/// Those with the shared file pointer are left out: the trace does not tell where they are. Nor does it after
/// a process has set a view without telling of which file, as in traces that were imported. Memory grows with
/// the pieces that are accessed, up to most_pieces: if there are more, nothing is found.
class FileConflicts : public EventVisitor {
  public:
    static constexpr std::size_t most_pieces = 1'000'000;

    /// Both must outlive it.
    FileConflicts(Findings& findings, CausalOrder& order)
        : m_findings(findings), m_order(order), m_views(findings.objects())
    {
    }

    void accessed(const Call& call, const Operation& operation) override;
    void leave(const Call& call) override;
    void completed(const Call& call, const Completion& completion) override;

    /// Tells the order what it will be asked.
    void prepare();
    void finish();

  private:
    struct Access {
        bool writes = false;
        bool is_atomic = false;
        Moment issued;
        Moment done; ///< step 0: never
        std::string name;
        CallPlace place;
    };
    struct Piece {
        std::int64_t begin = 0;
        std::int64_t end = 0;
        std::size_t access = 0;
    };
    struct Pair {
        std::size_t one;
        std::size_t other;
        const ProjectFile* file;
        std::int64_t begin; ///< of what both access
    };

    void add_pairs(const ProjectFile& file, std::vector<Piece>& pieces);
    void add_pair(const Pair& pair);
    bool conflict(std::size_t one, std::size_t other) const;

    Findings& m_findings;
    CausalOrder& m_order;
    FileViews m_views;
    std::set<std::pair<std::int64_t, const ProjectFile*>> m_atomic; ///< by rank
    std::set<std::int64_t> m_with_unknown_views;                    ///< ranks
    std::vector<Access> m_accesses;
    std::map<const ProjectFile*, std::vector<Piece>> m_pieces;
    std::size_t m_piece_count = 0;
    std::map<std::int64_t, std::size_t> m_blocking;                         ///< by rank: the access it is in
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> m_pending; ///< by rank and rid
    std::vector<Pair> m_pairs;
    PairLimit m_limit;
};

} // namespace hdtrace
