#include "hdtrace/format/remote_messages.h"

#include <map>
#include <memory>
#include <string>

namespace hdtrace::detail {
namespace {

constexpr std::uint32_t no_clock = UINT32_MAX;

void put_clock(const HostClock& clock, ByteWriter& bytes)
{
    bytes.put_text(clock.host);
    bytes.put_all(clock.parts);
    bytes.put(clock.uncertainty);
}

std::shared_ptr<const HostClock> take_clock(ByteReader& bytes)
{
    auto clock = std::make_shared<HostClock>();
    clock->host = bytes.take_text();
    bytes.take_all(clock->parts);
    clock->uncertainty = bytes.take<std::optional<double>>();
    return clock;
}

/// Each once: the processes of a host share it.
class Clocks {
  public:
    void put(const std::shared_ptr<const HostClock>& clock, ByteWriter& bytes)
    {
        if (!clock)
            return bytes.put(no_clock);
        const auto [known, is_new] =
            m_numbers.try_emplace(clock.get(), static_cast<std::uint32_t>(m_numbers.size()));
        bytes.put(known->second);
        if (is_new)
            put_clock(*clock, bytes);
    }
    std::shared_ptr<const HostClock> take(ByteReader& bytes)
    {
        const auto number = bytes.take<std::uint32_t>();
        if (number == no_clock)
            return nullptr;
        if (number == m_clocks.size())
            m_clocks.push_back(take_clock(bytes));
        return m_clocks.at(number);
    }

  private:
    std::map<const HostClock*, std::uint32_t> m_numbers;
    std::vector<std::shared_ptr<const HostClock>> m_clocks;
};

void put_ranks(const std::shared_ptr<const ProjectRanks>& ranks, ByteWriter& bytes)
{
    bytes.put(ranks != nullptr);
    if (!ranks)
        return;
    bytes.put(ranks->first());
    bytes.put_all(ranks->foreign());
}

std::shared_ptr<const ProjectRanks> take_ranks(ByteReader& bytes)
{
    if (!bytes.take<bool>())
        return nullptr;
    const auto first = bytes.take<std::int64_t>();
    std::vector<ForeignRanks::Run> foreign;
    bytes.take_all(foreign);
    return std::make_shared<const ProjectRanks>(first, std::move(foreign));
}

void put_selection(const Selection& selection, ByteWriter& bytes)
{
    bytes.put_all(selection.ranks);
    bytes.put_all(selection.threads);
    bytes.put_count(selection.calls.size());
    for (const std::string& call : selection.calls)
        bytes.put_text(call);
    bytes.put_all(selection.classes);
    bytes.put(selection.interval);
    bytes.put(selection.unfinished);
    bytes.put(selection.events);
}

Selection take_selection(ByteReader& bytes)
{
    Selection selection;
    bytes.take_all(selection.ranks);
    bytes.take_all(selection.threads);
    for (auto count = bytes.take_count(); count > 0; --count)
        selection.calls.emplace_back(bytes.take_text());
    bytes.take_all(selection.classes);
    selection.interval = bytes.take<TimeInterval>();
    selection.unfinished = bytes.take<bool>();
    selection.events = bytes.take<bool>();
    return selection;
}

} // namespace

void put(const ReadingJob& job, ByteWriter& bytes)
{
    Clocks clocks;
    bytes.put_count(job.traces.size());
    for (const TraceFile& trace : job.traces) {
        bytes.put_text(trace.path);
        bytes.put(trace.rank);
        bytes.put(trace.thread);
        put_ranks(trace.ranks, bytes);
        clocks.put(trace.clock, bytes);
        bytes.put(trace.began);
        bytes.put(trace.node_file_size);
    }
    put_selection(job.selection, bytes);
    bytes.put(job.memory);
    bytes.put(job.answer_size);
}

ReadingJob take_reading_job(ByteReader& bytes)
{
    ReadingJob job;
    Clocks clocks;
    for (auto count = bytes.take_count(); count > 0; --count) {
        TraceFile& trace = job.traces.emplace_back();
        trace.path = bytes.take_text();
        trace.rank = bytes.take<std::int64_t>();
        trace.thread = bytes.take<std::int64_t>();
        trace.ranks = take_ranks(bytes);
        trace.clock = clocks.take(bytes);
        trace.began = bytes.take<std::optional<std::int64_t>>();
        trace.node_file_size = bytes.take<std::int64_t>();
    }
    job.selection = take_selection(bytes);
    job.memory = bytes.take<std::size_t>();
    job.answer_size = bytes.take<std::size_t>();
    return job;
}

} // namespace hdtrace::detail
