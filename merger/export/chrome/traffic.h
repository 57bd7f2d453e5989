// What a process moves over time: the bytes of operations under way, and the bandwidth.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <string_view>
#include <vector>

#include "hdtrace/calls/calls.h"

namespace hdtrace::exporter::chrome {

enum class TrafficKind : std::uint8_t { messages, collectives, one_sided, files };
constexpr std::size_t traffic_kinds = 4;

/// Of an operation that moves bytes.
TrafficKind traffic_kind(const CallFacts& facts);
/// As people call it: "collective operations". The text lives forever.
std::string_view traffic_name(TrafficKind kind);

/// The sum of the bytes of operations between their beginnings and their ends. Memory grows with the changes
/// that are to come.
class BytesInFlight {
  public:
    /// Gets the sum that holds from a time on; times ascend.
    using OnChange = std::function<void(std::int64_t time, TrafficKind kind, std::int64_t bytes)>;

    void change(std::int64_t time, TrafficKind kind, std::int64_t bytes)
    {
        m_changes.push({time, kind, bytes});
    }
    /// Hands out what changed before @p now: nothing may change there any more.
    void tell_before(std::int64_t now, const OnChange& on_change);

  private:
    struct Change {
        std::int64_t time;
        TrafficKind kind;
        std::int64_t bytes;
        bool operator>(const Change& other) const
        {
            return time != other.time ? time > other.time : kind > other.kind;
        }
    };

    std::priority_queue<Change, std::vector<Change>, std::greater<>> m_changes;
    std::array<std::uint64_t, traffic_kinds> m_sums =
        {}; ///< wrap around, so that they come back from nonsense
};

/// How many bytes are moved per second, in at most so many intervals: they become longer with the run, so
/// memory is bounded. The bytes of an operation are spread over its time.
class Bandwidth {
  public:
    static constexpr std::size_t most_intervals = 256;

    explicit Bandwidth(std::int64_t origin) : m_origin(origin) {}

    /// @p begin is not before the origin.
    void add(TrafficKind kind, std::int64_t begin, std::int64_t end, std::int64_t bytes);

    /// Gets the bytes per second from a time on; times of a kind ascend.
    using OnChange = std::function<void(std::int64_t time, TrafficKind kind, double bytes)>;
    void tell(const OnChange& on_change) const;

  private:
    using Interval = std::array<double, traffic_kinds>; ///< bytes

    std::size_t interval_at(std::int64_t time);
    void double_intervals();

    std::int64_t m_origin;
    std::int64_t m_length = 1000; ///< of an interval, in nanoseconds
    std::vector<Interval> m_intervals;
};

} // namespace hdtrace::exporter::chrome
