// collective_objects.h - whose members a collective call is made by.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/events.h"

namespace hdtrace {

/// Collective calls on it follow each other in the same order in all members (MPI 4.1, 6.1, 12.1, 14.1).
struct CollectiveObject {
    const Communicator* communicator = nullptr; ///< of the members; null if it is not known
    /// That was opened with the communicator, if the call names one. On the disks of several hosts there are
    /// several files, but they were opened as one: this is one of them.
    const ProjectFile* file = nullptr;
    const Window* window = nullptr; ///< likewise
    /// Of starts of a persistent request, which follow each other by themselves (MPI 4.1, 6.13): how many
    /// each member has prepared on the communicator before it. -1: what is called is done at once.
    std::int64_t prepared = -1;

    auto operator<=>(const CollectiveObject&) const = default;
};

/// Knows which communicators files were opened with, windows were made of and operations were prepared on.
/// Memory grows with the number of these. For one thread at a time.
class CollectiveObjects {
  public:
    /// @p objects must outlive it.
    explicit CollectiveObjects(const ObjectTable& objects) : m_objects(objects) {}

    /// Of a collective call. It has to be asked once for each of them, in the order of the process: calls
    /// that open files and make windows are how it knows. Nothing if the object is not known.
    std::optional<CollectiveObject> of(const Call& call);
    /// Of the start of what such a call has prepared; nothing of other operations.
    std::optional<CollectiveObject> of_start(const Operation& operation) const;

    /// A process has opened this file several times at once: of its calls it is not known which of them they
    /// mean.
    bool is_ambiguous(const CollectiveObject& object) const { return m_ambiguous.contains(object.file); }

  private:
    /// A collective opening of files: each process has the same number of it on its communicator.
    struct Opening {
        const ProjectFile* file = nullptr; ///< of the process that is told first
        std::size_t processes = 0;         ///< that were told
    };

    void note_made(const Call& call, const Communicator* communicator);
    void note_prepared(const Call& call, const Communicator& communicator);
    const ProjectFile* file_of_opening(std::int64_t rank, const Communicator& communicator,
                                       const ProjectFile* own);
    std::optional<CollectiveObject> of_file(const Call& call);
    std::optional<CollectiveObject> of_window(const Call& call) const;

    const ObjectTable& m_objects;
    std::map<std::pair<std::int64_t, const Communicator*>, std::int64_t> m_openings_of; ///< by rank
    std::map<std::pair<const Communicator*, std::int64_t>, Opening> m_openings;         ///< by number
    std::map<std::pair<std::int64_t, const ProjectFile*>, CollectiveObject> m_opened;   ///< by rank
    std::map<const Window*, const Communicator*> m_windows;
    std::map<std::pair<std::int64_t, const Communicator*>, std::int64_t> m_prepared_on; ///< how many, by rank
    std::map<std::pair<std::int64_t, std::int64_t>, CollectiveObject> m_prepared;       ///< by rank and rid
    std::set<const ProjectFile*> m_ambiguous;
};

} // namespace hdtrace
