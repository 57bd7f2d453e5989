// history.h - what the threads of a program did and who needed whom: what all explanations are computed from.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hdtrace/calls/calls.h"
#include "hdtrace/explaining/series.h"
#include "hdtrace/explaining/steps.h"
#include "hdtrace/explaining/wait_kinds.h"
#include "hdtrace/format/traces.h"

namespace hdtrace {

/// What a thread is doing, as far as sums are made of it.
struct Place {
    /// Null: it enters or leaves a region of the program's own.
    const CallFacts* call = nullptr;
    std::int32_t site = -1;         ///< position in Project::call_sites; -1 is unknown
    std::int32_t communicator = -1; ///< position in Project::communicators; -1: the call names none
    std::int32_t region = 0; ///< number in History::regions; of a border that in which one is behind it
    std::int32_t left = -1;  ///< of the border at which a region ends: that one; -1 elsewhere

    bool operator==(const Place&) const = default;
};

struct StepId {
    std::uint32_t timeline = 0; ///< position in History::timelines
    std::uint32_t step = 0;     ///< position in its steps

    auto operator<=>(const StepId&) const = default;
};

/// What a thread did.
struct Timeline {
    std::int64_t rank = 0;
    std::int64_t thread = 0;
    Steps steps; ///< none begins before the one before it has ended
    /// Which of the steps are polls that were left out together, in their order. They count as no calls.
    std::vector<std::uint32_t> left_out = {};

    std::int64_t begin() const { return steps.empty() ? 0 : steps[0].begin; }
    std::int64_t end() const { return steps.empty() ? 0 : steps.back().end; }
};

/// A call cannot end before another one has begun.
struct Need {
    StepId call;
    StepId of; ///< the other one
    WaitKind kind = WaitKind::late_sender;

    auto operator<=>(const Need&) const = default;
};

/// Calls of several threads that belong to one operation.
struct Gathering {
    struct Member {
        StepId call;
        StepId end;            ///< the call that completes it, which is the same if it blocks
        bool has_ended = true; ///< otherwise `end` says nothing
    };

    WaitKind kind = WaitKind::wait_at_nxn;
    std::int32_t communicator = -1; ///< position in Project::communicators; -1: it has none
    std::int32_t root = -1;         ///< position in the members; -1: none is the root
    /// A member may go on before the others have come: nobody waits for data that is empty, and of some
    /// kinds MPI does not promise it (WaitKindFacts).
    bool may_return_early = false;
    std::vector<Member> members; ///< where their order matters, by their ranks in the communicator
};

/// Memory: mostly 12 bytes for each call of MPI, 20 for each message, 24 for each member of a collective
/// operation.
struct History {
    std::vector<Place> places;
    std::vector<Timeline> timelines;                 ///< by rank and thread
    std::vector<Need> needs;                         ///< by call
    Series<Gathering> gatherings;                    ///< in the order in which they were found
    std::vector<std::string> regions{std::string()}; ///< paths; 0 is outside of all

    Step step(StepId id) const { return timelines[id.timeline].steps[id.step]; }
    const Place& place(StepId id) const { return places[step(id).place]; }
    /// Whether a member that has ended can have waited for another one.
    bool may_have_waited(const Gathering& gathering, const Gathering::Member& member,
                         const Gathering::Member& other) const
    {
        return !gathering.may_return_early || step(member.end).end >= step(other.call).begin;
    }
    /// When the first step began and the last one ended.
    std::int64_t begin() const;
    std::int64_t end() const;
    std::span<const Need> needs_of(std::uint32_t timeline) const;

    /// Keeps the calls that are at least partly in a time, and who needed whom among them.
    void cut(TimeInterval interval);
};

/// Gives places numbers.
class PlaceIndex {
  public:
    explicit PlaceIndex(std::vector<Place>& places) : m_places(places) {}
    std::uint32_t number_of(const Place& place);

  private:
    struct Hash {
        std::size_t operator()(const Place& place) const;
    };

    std::vector<Place>& m_places;
    std::unordered_map<Place, std::uint32_t, Hash> m_numbers;
};

} // namespace hdtrace
