#include "hdtrace/explaining/clock_orders.h"

#include <algorithm>
#include <utility>

#include "hdtrace/format/host_clock.h"

namespace hdtrace {
namespace {

constexpr std::size_t compared_at_once = 32;

} // namespace

void ClockOrders::add(ClockOrder order, std::size_t most)
{
    const auto limit = [](std::int64_t& time) {
        time = std::clamp(time, -HostClock::latest, HostClock::latest);
    };
    limit(order.before);
    limit(order.after);
    Piece& piece = m_pieces[order.after >> m_shift];
    piece.orders.push_back(order);
    if (piece.orders.size() >= 2 * piece.kept + compared_at_once)
        thin_out(piece);
    while (m_pieces.size() > most)
        join_pieces();
}

// Between two clocks that run evenly only the hull's points can be the tightest ones.
void ClockOrders::thin_out(Piece& piece)
{
    std::ranges::sort(piece.orders, {},
                      [](const ClockOrder& order) { return std::pair(order.after, order.before); });
    std::vector<ClockOrder> hull;
    const auto is_below = [](const ClockOrder& a, const ClockOrder& b, const ClockOrder& c) {
        const auto slope = [](const ClockOrder& from, const ClockOrder& to) {
            return std::pair(static_cast<double>(to.before - from.before),
                             static_cast<double>(to.after - from.after));
        };
        const auto [ab_up, ab_on] = slope(a, b);
        const auto [ac_up, ac_on] = slope(a, c);
        return ab_up * ac_on <= ac_up * ab_on;
    };
    for (const ClockOrder& order : piece.orders) {
        while (hull.size() >= 2 && is_below(hull.end()[-2], hull.back(), order))
            hull.pop_back();
        hull.push_back(order);
    }
    piece.kept = hull.size();
    piece.orders = std::move(hull);
}

void ClockOrders::join_pieces()
{
    ++m_shift;
    std::map<std::int64_t, Piece> joined;
    for (const auto& [number, piece] : m_pieces)
        join(joined[number >> 1], piece);
    m_pieces = std::move(joined);
}

void ClockOrders::join(Piece& into, const Piece& piece)
{
    into.orders.insert(into.orders.end(), piece.orders.begin(), piece.orders.end());
    into.kept += piece.kept;
}

void ClockOrders::add(const ClockOrders& others)
{
    while (m_shift < others.m_shift)
        join_pieces();
    for (const auto& [number, piece] : others.m_pieces)
        join(m_pieces[number >> (m_shift - others.m_shift)], piece);
}

std::vector<ClockOrder> ClockOrders::take(std::size_t most)
{
    while (m_pieces.size() > most)
        join_pieces();
    std::vector<ClockOrder> all;
    for (auto& [number, piece] : std::exchange(m_pieces, {})) {
        thin_out(piece);
        all.insert(all.end(), piece.orders.begin(), piece.orders.end());
    }
    return all;
}

} // namespace hdtrace
