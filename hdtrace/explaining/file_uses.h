// file_uses.h - how the processes use files: what is read and written where, in which pieces, and when.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/matching/file_views.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// What the calls of one kind at one place of the program do with a file. Bytes are those of the file.
struct FileUse {
    static constexpr std::int64_t small_size = 4096;  ///< accesses of fewer bytes are small
    static constexpr std::int64_t large_size = 65536; ///< of as many, large
    static constexpr std::int64_t block_size = 4096;  ///< large accesses are aligned that begin at multiples

    const CallFacts* call = nullptr;
    std::int32_t site = -1; ///< position in Project::call_sites; -1 is unknown
    std::int32_t file = 0;  ///< position in Project::files
    std::int64_t calls = 0;
    std::int64_t time = 0;            ///< nanoseconds in them
    std::int64_t accesses = 0;        ///< that have not failed
    std::int64_t bytes = 0;           ///< read or written by them
    std::int64_t small = 0;           ///< accesses that are small, but not empty
    std::int64_t large = 0;           ///< accesses that are large and whose place is known
    std::int64_t unaligned = 0;       ///< large ones that do not begin at a multiple of block_size
    std::int64_t placed = 0;          ///< accesses whose place in the file is known
    std::int64_t strided = 0;         ///< of these, those that are several pieces in the file
    std::int64_t consecutive = 0;     ///< of these, those that begin where the process's one before ended
    std::int64_t read_back_bytes = 0; ///< read after the run had written them
    std::set<std::int64_t> ranks;     ///< that make these calls
};

/// A time in which a file is accessed, with pauses of at most a hundredth of the run.
struct FilePhase {
    std::int64_t begin = 0; ///< nanoseconds since the epoch
    std::int64_t end = 0;
    std::int64_t busy = 0; ///< nanoseconds in which at least one process accesses it
    std::int64_t read_bytes = 0;
    std::int64_t written_bytes = 0;
};

/// Visits all calls in the order of time. Memory: 32 bytes for each access, and what is written: 48 bytes for
/// each piece that touches no other one, of at most most_pieces.
class FileUses : public EventVisitor {
  public:
    static constexpr std::int64_t most_pieces = 10'000'000; ///< of accesses, besides the first of each

    /// What begins behind the interval or ends before it does not count. @p project must outlive this.
    FileUses(const OpenedProject& project, TimeInterval interval)
        : m_project(project), m_interval(interval), m_views(project.objects)
    {
    }

    void leave(const Call& call) override;
    void accessed(const Call& call, const Operation& operation) override;
    void completed(const Call& call, const Completion& completion) override;

    /// The run takes @p run_time.
    void finish(std::int64_t run_time);

    /// By file, call and site; calls that neither read nor write are among them.
    std::vector<const FileUse*> uses() const;
    /// In the order of time. Empty if the file is not accessed. Only after finish().
    const std::vector<FilePhase>& phases(std::int32_t file) const;
    /// Whether there are so many pieces that it is not known which bytes are read after they were written.
    bool has_too_many_pieces() const { return m_pieces >= most_pieces; }

  private:
    struct Access {
        std::int64_t begin;
        std::int64_t end;
        std::int64_t bytes;
        bool is_write;
    };
    /// Where an access is in the file.
    struct Place {
        std::int64_t offset;
        std::int64_t pieces;
        bool is_consecutive, is_large, is_unaligned;
    };
    struct Pending {
        FileUse* use;
        Access access;
        std::optional<Place> place;
    };
    /// Bytes that were written; no pieces touch each other: their ends by their beginnings.
    using Written = std::map<std::int64_t, std::int64_t>;

    /// Null if the call belongs to no file, or to another time.
    FileUse* use_of(const Call& call, std::int64_t rank, const Element& names_file, const CallFacts& facts);
    const FileView* view_of(const FileUse& use, std::int64_t rank) const;
    /// Of one that begins now. Nothing if it is not known.
    std::optional<Place> place(const FileUse& use, const Operation& operation, std::int64_t size);
    /// Of one that is over.
    void add(FileUse& use, std::int64_t rank, const Access& access, const std::optional<Place>& place);
    void move_bytes(FileUse& use, std::int64_t rank, const Access& access, const Place& place);
    static void add_written(Written& written, std::int64_t begin, std::int64_t end);
    static std::int64_t bytes_written(const Written& written, std::int64_t begin, std::int64_t end);

    const OpenedProject& m_project;
    TimeInterval m_interval;
    FileViews m_views;
    std::map<std::tuple<std::int32_t, const CallFacts*, std::int32_t>, FileUse> m_uses;
    /// By rank and file: where the last access ended.
    std::map<std::pair<std::int64_t, std::int32_t>, std::int64_t> m_next;
    std::map<std::pair<std::int64_t, std::int64_t>, Pending> m_pending; ///< by rank and rid
    std::map<std::int32_t, Written> m_written;
    std::map<std::int32_t, std::vector<Access>> m_accesses;
    std::map<std::int32_t, std::vector<FilePhase>> m_phases;
    std::int64_t m_pieces = 0;
};

} // namespace hdtrace
