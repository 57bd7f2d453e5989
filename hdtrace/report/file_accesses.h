// file_accesses.h - which bytes of each file are read and written when and by whom, for pictures of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/matching/file_views.h"
#include "hdtrace/matching/walk.h"
#include "hdtrace/report/packed.h"

namespace hdtrace::report {

/// A picture has so many accesses that more could not be told apart: if there are more, every second, fourth,
/// ... of a file is kept, with all its pieces.
class FileAccesses : public EventVisitor {
  public:
    static constexpr std::size_t most_pieces = 50'000;      ///< of a file
    static constexpr std::size_t most_of_an_access = 2'000; ///< the first ones
    static constexpr std::size_t most_of_all = 4'000'000;   ///< of the files together, about

    struct Piece {
        std::int64_t begin = 0;
        std::int64_t end = 0;
    };
    struct Access {
        std::int64_t begin = 0; ///< nanoseconds after the beginning of the run, once finish() was called
        std::int64_t end = 0;
        std::int64_t rank = 0;
        bool is_write = false;
        bool is_collective = false;
        std::vector<Piece> pieces;
    };
    struct OfFile {
        std::size_t file = 0; ///< position in Project::files
        std::size_t seen = 0; ///< accesses whose place is known
        std::size_t step = 1; ///< one of so many is kept
        std::size_t pieces = 0;
        std::size_t unplaced = 0; ///< accesses whose place is not known
        bool is_cut = false;      ///< an access has more pieces than are kept
        std::vector<Access> accesses;

        void add(Access access, std::size_t most);
        /// How many accesses, and columns of them; then of all pieces where each begins behind the one
        /// before, and its length.
        Packed packed() const;
    };

    /// @p project must outlive it.
    explicit FileAccesses(const OpenedProject& project) : m_project(project), m_views(project.objects) {}

    void leave(const Call& call) override;
    void accessed(const Call& call, const Operation& operation) override;
    void completed(const Call& call, const Completion& completion) override;

    /// @p shown gives the time after the beginning of the run for one that the clock of a process showed.
    void finish(const std::function<std::int64_t(std::int64_t rank, std::int64_t time)>& shown);
    /// By file. Only after finish().
    const std::map<std::size_t, OfFile>& files() const { return m_files; }

  private:
    struct Pending {
        std::size_t file;
        Access access;
    };

    const ProjectFile* file_of(const Call& call, std::int64_t rank, const Element& names_file) const;
    void add(std::size_t file, Access access);

    const OpenedProject& m_project;
    FileViews m_views;
    std::map<std::size_t, OfFile> m_files;
    std::map<std::pair<std::int64_t, std::int64_t>, Pending> m_pending; ///< by rank and rid
};

} // namespace hdtrace::report
