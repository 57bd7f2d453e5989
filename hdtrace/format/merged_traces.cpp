#include "hdtrace/format/merged_traces.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <utility>

#include "hdtrace/format/remote_traces.h"

namespace hdtrace {
namespace {

using detail::ReadingJob;
using detail::RemoteTraces;

// One trace, or several that another process reads. Needs little memory once it is at its end.
class Stream {
  public:
    Stream(TraceFile trace, const Selection& selection, const ReadOptions& options)
        : m_trace(std::move(trace)), m_own(std::in_place, m_trace, selection, options)
    {
    }
    Stream(std::shared_ptr<RemoteReader> reader, ReadingJob job)
        : m_remote(std::make_unique<RemoteTraces>(std::move(reader), std::move(job)))
    {
    }

    void wait_until_open()
    {
        if (m_remote)
            m_remote->wait_until_open();
    }
    bool advance()
    {
        if (m_remote ? m_remote->next(state) : m_own->next(state))
            return true;
        end();
        return false;
    }
    const TraceFile& trace() const { return m_remote ? m_remote->trace() : m_trace; }
    /// Known at the end, as the traces with odd lines.
    const std::vector<MissingEnd>& missing() const { return m_missing; }
    const std::vector<std::string>& with_odd_lines() const { return m_odd; }

    State state; ///< the next one to hand out

  private:
    void end()
    {
        state = {};
        if (m_remote) {
            m_missing = m_remote->missing();
            m_odd = m_remote->with_odd_lines();
            return;
        }
        if (!m_own->missing().empty())
            m_missing.push_back({m_trace.path, m_own->missing()});
        if (!m_own->has_only_plain_lines())
            m_odd.push_back(m_trace.path);
        m_own.reset();
    }

    TraceFile m_trace;
    std::optional<TraceStream> m_own;
    std::unique_ptr<RemoteTraces> m_remote;
    std::vector<MissingEnd> m_missing;
    std::vector<std::string> m_odd;
};

// When the next state of a stream begins; streams are numbered in the order of their traces.
using Head = std::pair<std::int64_t, std::size_t>;

// Whatever the number of traces is, their blocks together need about as much memory.
ReadOptions options_for(std::size_t traces, ReadingLimits limits)
{
    constexpr std::size_t smallest = 4 << 10;
    ReadOptions options;
    options.block_size = std::clamp(limits.memory / (traces + 1), smallest, options.block_size);
    options.keep_open = traces <= limits.open_files;
    return options;
}

// However many readers there are, what they have sent needs about as much memory as the blocks of own traces.
std::size_t answer_size_for(const std::vector<TraceFile>& traces, std::size_t memory)
{
    constexpr std::size_t smallest = 16 << 10, largest = 256 << 10;
    std::set<const RemoteReader*> readers;
    for (const TraceFile& trace : traces)
        readers.insert(trace.reader.get());
    return std::clamp(memory / (2 * readers.size() + 1), smallest, largest);
}

} // namespace

struct MergedTraces::Merging {
    /// When the stream's next state begins, which is read; nothing at its end.
    std::optional<Head> advance(std::size_t stream);

    std::deque<Stream> streams;
    std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
    std::size_t started = 0; ///< so many streams have a head or are at their end
    std::size_t current = 0;
    bool has_current = false; ///< its state was handed out, so it has to read the next one
};

std::optional<Head> MergedTraces::Merging::advance(std::size_t stream)
{
    Stream& read = streams[stream];
    return read.advance() ? std::optional(Head(read.state.time, stream)) : std::nullopt;
}

std::string to_string(const MissingEnd& end)
{
    return end.path + ": " + end.what + " is missing";
}

MergedTraces::MergedTraces(std::vector<TraceFile> traces, const Selection& selection, ReadingLimits limits)
    : m_merging(std::make_unique<Merging>())
{
    std::erase_if(traces, [&](const TraceFile& trace) { return !selection.wants(trace); });
    const ReadOptions options = options_for(traces.size(), limits);
    const std::size_t answer_size = answer_size_for(traces, limits.memory);
    for (auto trace = traces.begin(); trace != traces.end();) {
        const auto reader = trace->reader;
        if (!reader) {
            m_merging->streams.emplace_back(std::move(*trace++), selection, options);
            continue;
        }
        const auto end =
            std::find_if(trace, traces.end(), [&](const TraceFile& one) { return one.reader != reader; });
        m_merging->streams.emplace_back(reader,
                                        ReadingJob{{trace, end}, selection, limits.memory, answer_size});
        trace = end;
    }
    for (Stream& stream : m_merging->streams)
        stream.wait_until_open();
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
    return m_merging->streams[m_merging->current].trace();
}

std::vector<std::string> MergedTraces::with_odd_lines() const
{
    std::vector<std::string> paths;
    for (const Stream& stream : m_merging->streams)
        paths.insert(paths.end(), stream.with_odd_lines().begin(), stream.with_odd_lines().end());
    return paths;
}

std::vector<MissingEnd> MergedTraces::missing() const
{
    std::vector<MissingEnd> missing;
    for (const Stream& stream : m_merging->streams)
        missing.insert(missing.end(), stream.missing().begin(), stream.missing().end());
    return missing;
}

} // namespace hdtrace
