// collectives.h - which calls of the members of a communicator belong together.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/beginnings.h"
#include "hdtrace/matching/collective_objects.h"
#include "hdtrace/matching/volumes.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// What a call says.
struct CollectiveArguments {
    Element call;
    std::vector<Element> children;
};

/// What one process did in a collective operation. Times are nanoseconds since the epoch.
struct CollectiveCall {
    std::int64_t rank = 0;
    std::int64_t thread = 0;
    std::string name; ///< of a start, that of the call which prepared it
    std::int64_t start = 0;
    std::int64_t end = 0; ///< when the call returned, also if it was non-blocking
    std::optional<std::int64_t> root;
    std::int64_t bytes = 0; ///< that its arguments say it moves; 0 if it prepares that, or starts it
    std::int64_t line = 0;
    bool has_failed = false;
    std::int64_t rid = -1;                                          ///< of its request; -1: it has none
    const CallSite* site = nullptr;                                 ///< null if it is not known
    std::shared_ptr<const CollectiveArguments> arguments = nullptr; ///< only if they are asked for
    std::int64_t number = -1;                                       ///< its Call::number
};

/// The processes that give data to a call of a neighbourhood operation, as far as the trace names them: not
/// those of which it gets nothing. None if the arguments of the call were not kept.
std::vector<std::int64_t> sources_of(const CollectiveCall& call);

struct Collective : CollectiveObject {
    /// Of the operation on this object, from 0; of starts it means nothing. -1 if it is not known.
    std::int64_t number = 0;
    std::vector<CollectiveCall> calls; ///< in the order of time; some are missing if not all members called
};

/// A call and the object on which the members' calls belong together.
struct JoiningCall {
    CollectiveObject object;
    CollectiveCall call;
};

/// The members that did not call.
std::set<std::int64_t> absent_ranks(const Collective& collective);

/// Matches calls as MPI does: all members call the operations on a communicator in the same order
/// (MPI 4.0, 6.1). Takes part: collective communication, and what makes and frees communicators, windows and
/// files. Calls that the MPI library made inside others are left out. A call that failed takes part if the
/// others called the same: it may have failed before it reached them, and be followed by a second try. Memory
/// grows with how far processes are apart. For one thread at a time.
///
/// Where first calls of a member were given up for later ones (`--keep-last`) operations are counted from the
/// end, in finish(), from 0 on, and memory grows with them. If nothing tells which calls belong together
/// (beginnings.h), as where calls failed, each is handed out by itself, and so are the first ones. Where
/// rules leave out calls of some members (one_sided_rules.h) each is, at once.
class CollectiveMatcher : public EventVisitor {
  public:
    using OnCollective = std::function<void(const Collective&)>;

    /// @p on_collective gets each operation once all members have called; @p objects must outlive the
    /// matcher. Processes in @p absent are not waited for.
    CollectiveMatcher(const ObjectTable& objects, OnCollective on_collective,
                      std::set<std::int64_t> absent = {});

    void joined(const Call& call) override { take(call); }
    void leave(const Call& call) override;
    void mark(const Call& call) override;
    void started(const Call& call, const Operation& operation) override;
    /// The same. False of what takes part in nothing that is matched.
    bool take(const Call& call);
    bool take(const Operation& operation);

    /// The two halves of it: what a call takes part in, and putting it to the others'. One matcher can put
    /// together what others were given, unless it follows objects, or keeps arguments, which these leave out.
    /// Calls are then in the order in which they were put.
    std::optional<JoiningCall> read(const Call& call);
    void put(JoiningCall&& joining);

    /// Of which calls the arguments are kept.
    enum class Keep { nothing, neighbourhoods, all };
    /// From now on.
    void keep_arguments(Keep which) { m_keep = which; }

    /// From now on operations on files and windows are matched, too. Not on a file that a process has opened
    /// twice at the same time.
    void follow_objects() { m_follows_objects = true; }
    /// From now on starts of persistent operations are matched, too.
    void follow_starts() { m_follows_starts = true; }

    /// Hands out what some members did not call.
    void finish();

  private:
    struct Sequence {
        CollectiveObject object;
        std::size_t callers = 0; ///< members that are waited for
        std::deque<Collective> open;
        std::vector<CollectiveCall> spare; ///< empty, whose memory is used again
        std::int64_t done = 0;
        std::unordered_map<std::int64_t, std::int64_t> calls_of; ///< how many a process made
        /// How many that failed there took part: others may have taken part in the second tries.
        std::unordered_map<std::int64_t, std::int64_t> failed_of;
        bool lacks_first = false;                                      ///< calls of members
        std::map<std::int64_t, std::vector<CollectiveCall>> kept = {}; ///< then: what each has called

        bool is_complete() const { return !open.empty() && open.front().calls.size() >= callers; }
    };

    bool keeps(const CallFacts& facts) const;
    void put(JoiningCall&& joining, const Element* call, const std::vector<Element>* children);
    bool is_followed(const CollectiveObject& object) const;
    Sequence& sequence_of(const CollectiveObject& object);
    static std::vector<CollectiveCall>& calls_of_next(Sequence& sequence, std::int64_t rank);
    void hand_out_first(Sequence& sequence);
    void hand_out_from_end(Sequence& sequence);
    std::size_t count_from_end(const Sequence& sequence) const;
    static bool remove_misfit(Sequence& sequence);
    static void remove_first_call(Sequence& sequence, std::int64_t rank);
    static bool is_excused(Sequence& sequence, const Collective& collective);
    std::size_t callers_of(const Communicator& communicator) const;

    const ObjectTable& m_objects;
    Beginnings m_beginnings;
    bool m_lacks_members; ///< calls of some: none are put together
    CollectiveObjects m_collective_objects;
    OnCollective m_on_collective;
    std::set<std::int64_t> m_absent;
    Keep m_keep = Keep::nothing;
    bool m_follows_objects = false;
    bool m_follows_starts = false;
    std::map<CollectiveObject, Sequence> m_sequences;
};

} // namespace hdtrace
