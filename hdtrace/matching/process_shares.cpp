#include "hdtrace/matching/process_shares.h"

#include <algorithm>
#include <cassert>
#include <exception>
#include <limits>
#include <optional>
#include <ranges>
#include <set>

#include "hdtrace/format/errors.h"
#include "hdtrace/format/for_each_position.h"

namespace hdtrace {
namespace {

constexpr std::int64_t end_of_time = std::numeric_limits<std::int64_t>::max();

/// Reads the traces of a share up to a time.
class ShareReader {
  public:
    ShareReader(ProcessShare& share, std::vector<TraceFile> traces, const Selection& selection,
                ReadingLimits limits)
        : m_share(share), m_states(std::move(traces), selection, limits)
    {
        advance();
    }

    /// How many states there were until then, that moment included.
    std::size_t read_until(std::int64_t time)
    {
        std::size_t count = 0;
        for (; m_next && m_next->time <= time; ++count) {
            m_share.add(m_states.trace(), *m_next);
            advance();
        }
        return count;
    }

    bool is_at_end() const { return !m_next; }
    /// When the next state begins.
    std::int64_t next_time() const { return m_next ? m_next->time : end_of_time; }
    /// What the first trace has that is broken.
    const std::exception_ptr& failure() const { return m_failure; }

  private:
    void advance()
    {
        for (;;) {
            try {
                m_next = m_states.next();
                return;
            } catch (const ReadError&) { // the other traces go on
                if (!m_failure)
                    m_failure = std::current_exception();
            }
        }
    }

    ProcessShare& m_share;
    MergedTraces m_states;
    const State* m_next = nullptr;
    std::exception_ptr m_failure;
};

/// How far shares read before they hand over what they have for each other.
class Round {
  public:
    /// The end of the round in which the next states begin at @p next.
    std::int64_t end(std::int64_t next) const
    {
        return next > end_of_time - m_length ? end_of_time : next + m_length;
    }

    /// Rounds of so many states that a thread has something to do, and little is in memory.
    void adjust(std::size_t most_states)
    {
        constexpr std::size_t few = 16'384, many = 65'536;
        constexpr std::int64_t longest = std::int64_t(1) << 60;
        if (most_states < few && m_length < longest)
            m_length *= 2;
        else if (most_states > many && m_length > 1)
            m_length /= 2;
    }

  private:
    std::int64_t m_length = 1'000'000; ///< nanoseconds
};

std::size_t number_of_shares(const std::vector<TraceFile>& traces, std::size_t processes, unsigned threads)
{
    if (std::ranges::any_of(traces, [](const TraceFile& trace) { return trace.reader != nullptr; }))
        return 1;
    return std::clamp<std::size_t>(processes, 1, detail::number_of_threads(threads));
}

} // namespace

ProcessShares::ProcessShares(std::vector<TraceFile> traces, unsigned threads)
{
    std::set<std::int64_t> ranks;
    for (const TraceFile& trace : traces)
        ranks.insert(trace.rank);
    m_traces.resize(number_of_shares(traces, ranks.size(), threads));
    std::size_t position = 0;
    for (const std::int64_t rank : ranks)
        m_share_of[rank] = position++ * count() / ranks.size();
    for (TraceFile& trace : traces)
        m_traces[share_of(trace.rank)].push_back(std::move(trace));
}

std::size_t ProcessShares::share_of(std::int64_t rank) const
{
    const auto share = m_share_of.find(rank);
    return share == m_share_of.end() ? 0 : share->second;
}

void ProcessShares::read(const std::vector<ProcessShare*>& shares, const Selection& selection,
                         std::size_t memory)
{
    assert(shares.size() == count());
    const ReadingLimits limits{memory / count(),
                               std::max<std::size_t>(ReadingLimits().open_files / count(), 1)};
    std::vector<std::optional<ShareReader>> readers(count());
    detail::for_each_position(
        count(), [&](std::size_t i) { readers[i].emplace(*shares[i], m_traces[i], selection, limits); });
    const auto is_at_end = [](const auto& reader) { return reader->is_at_end(); };
    const auto next_time = [](const auto& reader) { return reader->next_time(); };
    std::vector<std::size_t> states(count());
    for (Round round; !std::ranges::all_of(readers, is_at_end); round.adjust(std::ranges::max(states))) {
        const std::int64_t end = round.end(std::ranges::min(readers | std::views::transform(next_time)));
        detail::for_each_position(count(), [&](std::size_t i) { states[i] = readers[i]->read_until(end); });
        detail::for_each_position(count(), [&](std::size_t i) { shares[i]->take_over(); });
    }
    for (const std::optional<ShareReader>& reader : readers)
        if (reader->failure())
            std::rethrow_exception(reader->failure());
}

} // namespace hdtrace
