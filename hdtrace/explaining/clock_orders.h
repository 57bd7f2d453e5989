// clock_orders.h - what a program's messages and collective operations tell about the clocks of its hosts.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hdtrace/analysis/opened_project.h"
#include "hdtrace/matching/collectives.h"
#include "hdtrace/matching/messages.h"
#include "hdtrace/matching/walk.h"

namespace hdtrace {

/// A moment by the clock of one host is not after a moment by that of another one.
struct ClockOrder {
    std::int64_t before = 0;
    std::int64_t after = 0;
};

/// Of two hosts. Memory is bounded: of pieces of the run only those are kept that may be the tightest ones,
/// whatever the clocks' offsets and drifts are.
class ClockOrders {
  public:
    void add(ClockOrder order, std::size_t most_pieces);
    /// Not in their order.
    std::vector<ClockOrder> all() const;

  private:
    struct Piece {
        std::vector<ClockOrder> orders;
        std::size_t kept = 0; ///< of the orders; the others have not been compared with them
    };

    static void thin_out(Piece& piece);
    void join_pieces();

    int m_shift = 20; ///< a piece lasts 2^shift nanoseconds, by the clock of `after`
    std::map<std::int64_t, Piece> m_pieces;
};

/// A position in HostOrders::hosts.
using HostNumber = std::uint32_t;

struct HostOrders {
    /// When something began first there and ended last, by its clock.
    struct Life {
        std::int64_t begin = std::numeric_limits<std::int64_t>::max();
        std::int64_t end = std::numeric_limits<std::int64_t>::min();
    };

    std::vector<std::string> hosts; ///< in the order of the traces
    std::vector<Life> lives;
    std::map<std::pair<HostNumber, HostNumber>, ClockOrders> orders; ///< by the hosts of before and of after
};

/// The hosts of a project's traces, in their order.
std::vector<std::string> hosts_of(const OpenedProject& project);

/// Reads all traces of a project. Of a trace that is broken what stands before that place.
class ClockOrderFinder : EventVisitor {
  public:
    explicit ClockOrderFinder(const OpenedProject& project);
    ClockOrderFinder(const ClockOrderFinder&) = delete;
    ClockOrderFinder& operator=(const ClockOrderFinder&) = delete;

    /// Throws OpenError.
    HostOrders find();

  private:
    using CallId = std::tuple<std::int64_t, std::int64_t, std::int64_t>; // rank, thread and time

    void enter(const Call& call) override;
    void started(const Call& call, const Operation& operation) override;
    void add_message(const Message& message);
    void add_collective(const Collective& collective);
    void add_all(const Collective& collective);
    void add(std::int64_t rank, std::int64_t before, std::int64_t other_rank, std::int64_t after);
    void add(HostNumber host, std::int64_t before, HostNumber other, std::int64_t after);

    const OpenedProject& m_project;
    HostOrders m_found;
    std::map<std::int64_t, HostNumber> m_host_of; ///< by rank
    std::set<CallId> m_synchronous;               ///< sends that end after their receives have begun
    MessageMatcher m_messages;
    CollectiveMatcher m_collectives;
};

} // namespace hdtrace
