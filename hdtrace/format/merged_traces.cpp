#include "hdtrace/format/merged_traces.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <utility>

namespace hdtrace {
namespace {

struct Stream {
    TraceStream states;
    State state; ///< the next one to hand out
};

// When the next state of a stream begins; streams are numbered in the order of their traces.
using Head = std::pair<std::int64_t, std::size_t>;

// Whatever the number of traces is, their blocks together need about as much memory.
ReadOptions options_for(std::size_t traces, std::size_t memory)
{
    constexpr std::size_t smallest = 4 << 10;
    ReadOptions options;
    options.block_size = std::clamp(memory / (traces + 1), smallest, options.block_size);
    options.keep_open = traces <= MergedTraces::most_open_files;
    return options;
}

} // namespace

struct MergedTraces::Merging {
    /// When the stream's next state begins, which is read; nothing at its end.
    std::optional<Head> advance(std::size_t stream);

    std::deque<Stream> streams;
    std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
    std::vector<MissingEnd> missing;
    std::size_t started = 0; ///< so many streams have a head or are at their end
    std::size_t current = 0;
    bool has_current = false; ///< its state was handed out, so it has to read the next one
};

std::optional<Head> MergedTraces::Merging::advance(std::size_t stream)
{
    Stream& read = streams[stream];
    if (read.states.next(read.state))
        return Head(read.state.time, stream);
    if (!read.states.missing().empty())
        missing.push_back({read.states.trace().path, read.states.missing()});
    return {};
}

std::string to_string(const MissingEnd& end)
{
    return end.path + ": " + end.what + " is missing";
}

MergedTraces::MergedTraces(std::vector<TraceFile> traces, const Selection& selection, std::size_t memory)
    : m_merging(std::make_unique<Merging>())
{
    std::erase_if(traces, [&](const TraceFile& trace) { return !selection.wants(trace); });
    const ReadOptions options = options_for(traces.size(), memory);
    for (TraceFile& trace : traces)
        m_merging->streams.push_back({TraceStream(std::move(trace), selection, options), {}});
}

MergedTraces::~MergedTraces() = default;
MergedTraces::MergedTraces(MergedTraces&&) noexcept = default;
MergedTraces& MergedTraces::operator=(MergedTraces&&) noexcept = default;

State* MergedTraces::next()
{
    Merging& merging = *m_merging;
    while (merging.started < merging.streams.size())
        if (const auto head = merging.advance(merging.started++))
            merging.heads.push(*head);
    if (std::exchange(merging.has_current, false)) {
        const auto head = merging.advance(merging.current);
        if (head && (merging.heads.empty() || *head < merging.heads.top())) {
            merging.has_current = true;
            return &merging.streams[merging.current].state;
        }
        if (head)
            merging.heads.push(*head);
    }
    if (merging.heads.empty())
        return nullptr;
    merging.current = merging.heads.top().second;
    merging.heads.pop();
    merging.has_current = true;
    return &merging.streams[merging.current].state;
}

const TraceFile& MergedTraces::trace() const
{
    return m_merging->streams[m_merging->current].states.trace();
}

std::vector<std::string> MergedTraces::with_odd_lines() const
{
    std::vector<std::string> paths;
    for (const Stream& stream : m_merging->streams)
        if (!stream.states.has_only_plain_lines())
            paths.push_back(stream.states.trace().path);
    return paths;
}

const std::vector<MissingEnd>& MergedTraces::missing() const
{
    return m_merging->missing;
}

} // namespace hdtrace
