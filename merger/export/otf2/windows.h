// One-sided communication as records of OTF2.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/events.h"
#include "merger/export/otf2/process_definitions.h"

namespace hdtrace::exporter::otf2 {

/// How much of a call the records hold.
enum class Recorded { all, with_assumed_lock, nothing };

/// The windows of one process. Operations complete at their origin where a call says so, and at their target
/// where MPI promises it to the origin.
class WindowEvents {
  public:
    /// All must outlive this.
    WindowEvents(std::int64_t rank, const ObjectTable& objects, ProcessDefinitions& definitions)
        : m_rank(rank), m_objects(objects), m_definitions(definitions)
    {
    }

    /// What stands behind Enter.
    Recorded begin(const Call& call, OTF2_EvtWriter* writer);
    /// What stands before Leave.
    void finish(const Call& call, OTF2_EvtWriter* writer);

    /// Operations with requests: where they are started and where a call tells that they are complete.
    Recorded start(const Operation& operation, OTF2_EvtWriter* writer);
    /// False if it is none of them.
    bool complete(const Completion& completion, OTF2_EvtWriter* writer);

  private:
    /// Operations to one target, by matching id.
    struct Target {
        std::set<std::uint64_t> issued;
        std::set<std::uint64_t> complete_here; ///< and perhaps not at the target
        std::optional<std::int64_t> displacement_unit;
    };
    struct WindowState {
        OTF2_RmaWinRef ref;
        const Communicator* communicator;
        const Window* window;
        bool was_allocated = false;
        std::map<std::uint32_t, Target> targets{}; ///< by rank in the communicator
        std::optional<OTF2_GroupRef> accessed{};   ///< between Win_start and Win_complete
        std::optional<OTF2_GroupRef> exposed{};    ///< between Win_post and Win_wait
    };
    struct RequestedOperation {
        WindowState* window;
        std::uint32_t target;
        std::uint64_t id;
    };

    WindowState* window_of(const Element& call);
    /// Whether its target is MPI_PROC_NULL, or not described.
    bool lacks_target(const Element& call, const CallFacts& facts, const WindowState& window) const;
    /// Its id.
    std::uint64_t issue(const Element& call, const CallFacts& facts, WindowState& window,
                        OTF2_TimeStamp when);
    void begin_lock(const State& call, const WindowState& window) const;
    void finish_lock(const Call& call, const WindowState& window) const;
    void finish_epoch(const Call& call, WindowState& window) const;
    void finish_collective(const Call& call, WindowState& window) const;
    /// What a call completes: at all targets, or at the one that it names.
    void synchronise(const Call& call, WindowState& window) const;
    void synchronise(const CallFacts& facts, const WindowState& window, Target& target,
                     OTF2_TimeStamp when) const;
    /// Whom a call names.
    std::optional<std::uint32_t> target_of(const Element& call, const WindowState& window) const;

    std::int64_t m_rank;
    const ObjectTable& m_objects;
    ProcessDefinitions& m_definitions;
    OTF2_EvtWriter* m_writer = nullptr; ///< of the call that is being taken
    std::unordered_map<const Window*, WindowState> m_windows;
    std::unordered_map<std::int64_t, RequestedOperation> m_requested; ///< by rid
    std::uint64_t m_next_id = 0;
};

} // namespace hdtrace::exporter::otf2
