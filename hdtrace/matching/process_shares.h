// process_shares.h - reads the traces of all processes on all cores, in the order of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hdtrace/format/merged_traces.h"

namespace hdtrace {

/// Gets what some of the processes do. Shares run at the same time, each in one thread at a time.
class ProcessShare {
  public:
    virtual ~ProcessShare() = default;

    /// A state of the top level, in the order of time within the share.
    virtual void add(const TraceFile& trace, const State& state) = 0;
    /// From time to time, and behind the last state: takes what the other shares have handed over (see
    /// Handover). No share is given a state meanwhile.
    virtual void take_over() = 0;
};

/// What shares hand over to each other: only in ProcessShare::add(), and taken in take_over().
template <class Item> class Handover {
  public:
    explicit Handover(std::size_t shares) : m_items(shares, std::vector<std::vector<Item>>(shares)) {}

    void give(std::size_t from, std::size_t to, Item item) { m_items[from][to].push_back(std::move(item)); }

    /// Each item by itself, those of a share in the order in which it gave them.
    template <class Take> void take(std::size_t to, const Take& take)
    {
        for (std::vector<std::vector<Item>>& given : m_items) {
            for (Item& item : given[to])
                take(std::move(item));
            given[to].clear();
        }
    }

  private:
    std::vector<std::vector<std::vector<Item>>> m_items; ///< by who gives and who takes
};

/// The processes of a program, divided into shares of neighbours. All shares come about as far at any moment
/// as time goes, so that little has to be remembered of what one process needs of another one. How states of
/// different shares follow each other is not defined. For one thread at a time.
class ProcessShares {
  public:
    /// @p threads: 0 takes as many as there are cores. Traces that have a reader are all in one share.
    explicit ProcessShares(std::vector<TraceFile> traces, unsigned threads = 0);

    std::size_t count() const { return m_traces.size(); }
    /// Of a process without traces: any share.
    std::size_t share_of(std::int64_t rank) const;

    /// Reads all traces, those that are broken as far as they go; there is one of @p shares for each share.
    /// The blocks of all traces together need about so much @p memory, in bytes. Throws OpenError, and at the
    /// end ReadError of a trace that is broken.
    void read(const std::vector<ProcessShare*>& shares, const Selection& selection, std::size_t memory);

  private:
    std::vector<std::vector<TraceFile>> m_traces;             ///< by share
    std::unordered_map<std::int64_t, std::size_t> m_share_of; ///< by rank
};

} // namespace hdtrace
