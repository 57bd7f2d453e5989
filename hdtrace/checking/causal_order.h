// causal_order.h - what happened before what, whatever the clocks say: by the order of the calls of each
// process, by messages, which probes may tell of before they are received, and by collective operations
// (Lamport's relation, as vector clocks).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "hdtrace/format/objects.h"
#include "hdtrace/matching/collective_objects.h"
#include "hdtrace/matching/messages.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// A moment of a process: how many of its steps lie before it.
struct Moment {
    std::int64_t rank = -1;
    std::uint32_t step = 0;

    auto operator<=>(const Moment&) const = default;
};

/// Of one walk it collects what orders the calls; at its end it answers. Must stand before the MessageMatcher
/// whose messages it is given, and before those that ask it for moments. The calls of all threads of a
/// process count as ordered. Memory grows with the calls that communicate, up to most_steps: if there are
/// more, nothing is known.
class CausalOrder : public EventVisitor {
  public:
    static constexpr std::size_t most_steps = 4'000'000;

    /// @p objects must outlive it.
    explicit CausalOrder(const ObjectTable& objects) : m_objects(objects), m_collective_objects(objects) {}

    void started(const Call& call, const Operation& operation) override;
    void completed(const Call& call, const Completion& completion) override;
    void joined(const Call& call) override;
    void leave(const Call& call) override;

    /// A message with both ends: what it was sent behind happened before what follows its receipt.
    void add(const Message& message);
    /// The same of something else that is told.
    void add(Moment earlier, Moment later);

    /// A new moment of a process, behind all that it did.
    Moment step(std::int64_t rank);
    /// The last one.
    Moment last_step(std::int64_t rank) { return {rank, m_processes[rank].steps}; }
    /// When the operation began, or was complete.
    Moment began(std::int64_t rank, const MessageEnd& end) const;
    Moment ended(std::int64_t rank, const MessageEnd& end) const;

    /// There is too much: nothing is known.
    bool is_full() const { return m_steps > most_steps; }
    /// What is asked about later has to be told before finish().
    void keep(Moment moment) { m_kept.emplace(moment, std::vector<std::uint32_t>()); }
    void finish();
    /// Whether the first happened before the second, which was kept.
    bool is_before(Moment first, Moment second) const;

  private:
    /// Thread, line, request, of the call that started an operation of a process.
    using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
    struct Span {
        Moment begin;
        Moment end;
        Moment received;  ///< of a synchronous send: when its receive began, once that is known
        int messages = 0; ///< of it that were not added: two of a Sendrecv
        bool is_synchronous = false;
    };
    /// What some tell and others hear; nobody hears it before all have told.
    struct Meeting {
        std::size_t awaited = 0;
        std::size_t hearers = 0; ///< that have not heard it
        std::vector<std::uint32_t> told;
    };
    struct Action {
        std::uint32_t step;
        bool hears; ///< else it tells
        std::size_t meeting;
    };
    /// The messages of a communicator, destination, source and tag.
    using Channel = std::tuple<const Communicator*, std::int64_t, std::int64_t, std::int64_t>;
    /// Told of the message that is taken next from its channel.
    struct Probe {
        Moment end;
        Moment taken = {}; ///< step 0: not yet, as far as is known
        Moment sent = {};
    };
    struct Process {
        std::uint32_t steps = 0;
        std::vector<Action> actions;
        std::size_t done = 0;
        std::vector<std::uint32_t> clock;
    };

    static Key key_of(const Operation& operation);
    static Key key_of(std::int64_t rank, const MessageEnd& end);
    void follow_probe(const Call& call);
    Moment take(const Message& message);
    void add_probes(const Message& message);
    void add_receive(const Message& message);
    void forget_message(std::int64_t rank, const MessageEnd& end);
    std::size_t meeting_of(std::int64_t rank, const CollectiveObject& object);
    void tell(Moment moment, std::size_t meeting);
    void hear(Moment moment, std::size_t meeting);
    bool advance(std::int64_t rank, bool is_forced);
    void keep_clock(std::int64_t rank, std::uint32_t until);

    const ObjectTable& m_objects;
    CollectiveObjects m_collective_objects;
    std::map<std::int64_t, Process> m_processes;
    std::map<Key, Span> m_operations;               ///< that send or receive, and probes that take messages
    std::map<Channel, std::vector<Probe>> m_probes; ///< that do not
    std::map<Key, std::size_t> m_collectives;       ///< that are not complete
    std::optional<std::size_t> m_joined;            ///< by the call that the walk is in, which blocks
    std::map<std::pair<std::int64_t, CollectiveObject>, std::int64_t> m_numbers; ///< of calls of a rank
    std::map<std::pair<CollectiveObject, std::int64_t>, std::size_t> m_numbered;
    std::deque<Meeting> m_meetings;
    std::map<Moment, std::vector<std::uint32_t>> m_kept;
    std::size_t m_steps = 0;
    std::size_t m_width = 0;
};

} // namespace hdtrace
