// clock_orders.h - what is kept of what two hosts' messages tell about their clocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

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
    void add(const ClockOrders& others);
    /// Not in their order, and the same ones in whichever order they were added. Takes them away.
    std::vector<ClockOrder> take(std::size_t most_pieces);

  private:
    struct Piece {
        std::vector<ClockOrder> orders;
        std::size_t kept = 0; ///< of the orders; the others have not been compared with them
    };

    static void thin_out(Piece& piece);
    static void join(Piece& into, const Piece& piece);
    void join_pieces();

    int m_shift = 20; ///< a piece lasts 2^shift nanoseconds, by the clock of `after`
    std::map<std::int64_t, Piece> m_pieces;
};

} // namespace hdtrace
