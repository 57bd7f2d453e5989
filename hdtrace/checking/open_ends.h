// open_ends.h - sends and receives that have no other end, and those of calls in progress.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "hdtrace/calls/calls.h"
#include "hdtrace/matching/events.h"
#include "hdtrace/matching/messages.h"

namespace hdtrace {

struct OpenEnd {
    const Communicator* communicator = nullptr; ///< null if the project does not describe it
    std::int64_t source = 0;                    ///< -1: any
    std::int64_t destination = 0;
    std::int64_t tag = 0; ///< -1: any
    MessageEnd end;       ///< its rid is in_progress if it is of a blocking call that has not ended
    const OpenEnd* other = nullptr;

    bool is_in_progress() const { return end.rid == in_progress; }

    static constexpr std::int64_t in_progress = -2;
};

/// First everything is added, then match() is called, then it is asked.
class OpenEnds {
  public:
    /// @p objects must outlive it.
    explicit OpenEnds(const ObjectTable& objects) : m_objects(objects) {}

    /// What MessageMatcher found no other end for.
    void add_rest(const Message& message);
    /// What a blocking call that has not ended sends and receives, or a probe that found nothing asked for.
    void add_in_progress(const TraceFile& trace, const State& call, const CallFacts& facts);

    /// Receives get, in the order in which they began, the first message that fits (MPI 4.1, 3.5).
    void match();

    /// By the process, and the request or OpenEnd::in_progress; null if there is none.
    const OpenEnd* send_of(std::int64_t rank, std::int64_t rid) const { return find(m_send_of, rank, rid); }
    const OpenEnd* receive_of(std::int64_t rank, std::int64_t rid) const
    {
        return find(m_receive_of, rank, rid);
    }
    const std::vector<OpenEnd>& sends() const { return m_sends; }
    const std::vector<OpenEnd>& receives() const { return m_receives; }

  private:
    using RequestId = std::pair<std::int64_t, std::int64_t>; // rank and rid
    using Index = std::map<RequestId, const OpenEnd*>;

    static const OpenEnd* find(const Index& index, std::int64_t rank, std::int64_t rid);
    void index();

    const ObjectTable& m_objects;
    std::vector<OpenEnd> m_sends;
    std::vector<OpenEnd> m_receives;
    Index m_send_of;
    Index m_receive_of;
};

/// Whether a receive or a probe that asks for this gets that.
constexpr bool fits(std::int64_t wanted, std::int64_t value)
{
    return wanted == -1 || wanted == value; // any
}

} // namespace hdtrace
