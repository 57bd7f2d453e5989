// joined_calls.h - which calls of the members of a file or of a window belong together.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// Matches collective calls that name a file or a window and no communicator: their members call them in one
/// order. Calls of communicators are for CollectiveMatcher. Memory grows with how far processes are apart.
class JoinedCalls : public EventVisitor {
  public:
    struct Member {
        std::int64_t rank;
        std::int64_t thread;
        std::int64_t start; ///< when the call began
    };
    struct Joined {
        const CallFacts* facts;           ///< of the first call
        const Communicator* communicator; ///< of the members
        std::vector<Member> members;
    };
    using OnJoined = std::function<void(const Joined&)>;

    /// @p on_joined gets each operation once all members have called; both must outlive this.
    JoinedCalls(const Project& project, const ObjectTable& objects, OnJoined on_joined);

    void joined(const Call& call) override;
    void made(const Call& call, ObjectKind kind, std::int64_t id) override;

  private:
    using Object = std::pair<const void*, const Communicator*>; // the file or window, and its members
    struct Sequence {
        std::deque<Joined> open;
        std::int64_t done = 0;
        std::unordered_map<std::int64_t, std::int64_t> calls_of; ///< by rank
    };

    Object object_of(const Call& call) const;

    const ObjectTable& m_objects;
    OnJoined m_on_joined;
    std::map<std::string_view, const Communicator*> m_communicators; ///< by uid
    /// Of a file of a process, by rank and id: the communicator that it was last opened with.
    std::map<std::pair<std::int64_t, std::int64_t>, const Communicator*> m_opened;
    std::map<Object, Sequence> m_sequences;
};

} // namespace hdtrace
