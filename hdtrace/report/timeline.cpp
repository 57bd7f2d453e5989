#include "hdtrace/report/timeline.h"

#include <algorithm>
#include <charconv>

#include "hdtrace/format/for_each_position.h"
#include "hdtrace/format/left_out.h"
#include "hdtrace/matching/saturated.h"
#include "hdtrace/report/overlays.h"
#include "hdtrace/report/packed.h"

namespace hdtrace::report {
namespace {

Selection all_of(const Project& project)
{
    Selection all;
    all.unfinished = true;
    all.events = true;
    return with_regions(project, std::move(all));
}

// A page has a part for each pixel or so, as long as all lanes together stay small.
std::size_t parts_for(std::size_t lanes)
{
    constexpr std::size_t most_of_all = 1 << 20;
    std::size_t parts = 4096;
    while (parts > 256 && parts * lanes > most_of_all)
        parts /= 2;
    while (parts > 64 && parts * lanes > 8 * most_of_all) // of so many lanes only few can be seen at once
        parts /= 2;
    return parts;
}

double number_in(std::string_view text)
{
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

} // namespace

TimelineReader::TimelineReader(std::shared_ptr<const OpenedProject> project, const History& history,
                               const std::vector<WaitState>& waits, const std::vector<PathPart>& path)
    : m_project(std::move(project)), m_history(history), m_waits(waits), m_path(path),
      m_begin(history.begin()), m_duration(history.end() - history.begin()),
      m_parts(parts_for(history.timelines.size())), m_threads(history.timelines.size()),
      m_shares(history.timelines.size(), Shares(m_parts, m_duration)), m_lanes(history.timelines.size()),
      m_phrases(*m_project), m_states(m_project->traces, all_of(m_project->project)),
      m_messages(m_project->objects, [this](const Message& message) { add_message(message); }),
      m_files(*m_project)
{
    for (std::uint32_t i = 0; i < history.timelines.size(); ++i) {
        m_lanes[i].rank = history.timelines[i].rank;
        m_lanes[i].thread = history.timelines[i].thread;
        m_numbers[{m_lanes[i].rank, m_lanes[i].thread}] = i;
    }
    add_hosts();
}

void TimelineReader::add_hosts()
{
    for (const TraceFile& trace : m_project->traces)
        m_lanes[*lane_of(trace.rank, trace.thread)].host = host_of(m_project->project, trace.labels);
}

const std::uint32_t* TimelineReader::lane_of(std::int64_t rank, std::int64_t thread) const
{
    const auto found = m_numbers.find({rank, thread});
    return found == m_numbers.end() ? nullptr : &found->second;
}

std::uint32_t TimelineReader::name_number(const std::string& name)
{
    const auto [found, is_new] = m_name_numbers.try_emplace(name, static_cast<std::uint32_t>(m_names.size()));
    if (is_new)
        m_names.push_back(name);
    return found->second;
}

bool TimelineReader::read(std::size_t states)
{
    for (; states > 0; --states) {
        const ReadAhead::Item* const item = m_states.next();
        if (!item) {
            finish();
            return false;
        }
        m_walk.add(*item->trace, item->state);
    }
    return true;
}

void TimelineReader::enter(const Call& call)
{
    if (call.own_region != RegionPaths::outside)
        return;
    const std::uint32_t number = *lane_of(call.trace.rank, call.trace.thread);
    Thread& thread = m_threads[number];
    if (call.nesting == 0)
        add_left_out_polls(number, call);
    add_call(number, call, since_begin(call.state.time));
    if (call.nesting > 0)
        return;
    thread.last_end = since_begin(call.state.end);
    thread.last_poll = call.facts.polls ? call.state.name : std::string();
    if (call.facts.polls)
        thread.last_site = call.state.text("site");
}

void TimelineReader::add_call(std::uint32_t lane, const Call& call, std::int64_t begin)
{
    const CallSite* const site = m_project->objects.call_site(call.trace.rank, call.state);
    const std::int32_t site_number = site ? position_in(m_project->project.call_sites, *site) + 1 : 0;
    const auto [phrase, numbers] = m_phrases.say(call);
    const std::int64_t end = since_begin(call.state.end);
    m_threads[lane].calls.add({begin, end, static_cast<std::uint32_t>(call.nesting), phrase,
                               static_cast<std::uint32_t>(site_number)},
                              numbers);
    if (call.nesting == 0)
        m_shares[lane].add(static_cast<std::size_t>(call.facts.call_class), begin, end);
}

// As one call, like the one before them.
void TimelineReader::add_left_out_polls(std::uint32_t lane, const Call& next)
{
    Thread& thread = m_threads[lane];
    const std::int64_t time = thread.last_poll.empty() ? 0 : left_out_poll_time(next.state);
    const std::int64_t end = since_begin(next.state.time);
    const std::int64_t begin = std::max(thread.last_end, saturated_distance(end, time));
    if (time <= 0 || begin >= end)
        return;
    State polls;
    polls.name = thread.last_poll;
    polls.end = next.state.time;
    if (!thread.last_site.empty())
        polls.attributes.push_back("site", thread.last_site);
    if (const auto count = next.state.find("polls"); count && next.state.name == polls.name)
        polls.attributes.push_back("polls", *count);
    add_call(lane, {.trace = next.trace, .state = polls, .facts = facts_of(polls.name)}, begin);
    ++thread.left_out;
}

void TimelineReader::leave(const Call& call)
{
    if (call.own_region == RegionPaths::outside)
        return;
    Thread& thread = m_threads[*lane_of(call.trace.rank, call.trace.thread)];
    thread.marks.push_back({since_begin(call.state.time), since_begin(call.state.end),
                            name_number(call.state.name), static_cast<std::uint32_t>(call.depth), 0, 0});
}

void TimelineReader::mark(const Call& call)
{
    Thread& thread = m_threads[*lane_of(call.trace.rank, call.trace.thread)];
    const auto value = call.state.find("value");
    const std::int64_t when = since_begin(call.state.time);
    thread.marks.push_back(
        {when, when, name_number(call.state.text("name").empty() ? call.state.name : call.state.text("name")),
         static_cast<std::uint32_t>(call.depth), value ? number_in(*value) : 0,
         static_cast<char>(value ? 2 : 1)});
}

void TimelineReader::add_message(const Message& message)
{
    if (!message.send || !message.receive)
        return;
    const std::uint32_t* const lane = lane_of(message.destination, message.receive->thread);
    const std::uint32_t* const source = lane_of(message.source, message.send->thread);
    if (!lane || !source)
        return;
    const auto& all = m_project->project.communicators;
    m_threads[*lane].messages.push_back(
        {since_begin(message.send->time), since_begin(arrival_of(message)),
         std::max<std::int64_t>(message.receive->size, 0), message.tag, *source,
         message.communicator ? static_cast<std::uint32_t>(position_in(all, *message.communicator)) + 1 : 0});
}

Packed TimelineReader::pack_messages(std::vector<Received>& messages)
{
    std::ranges::sort(messages, {}, &Received::end);
    Packed ends, durations, sources, sizes, tags, communicators;
    std::int64_t last = 0;
    for (const Received& message : messages) {
        ends.add_signed(message.end - last);
        durations.add_signed(message.end - message.sent);
        sources.add(message.source);
        sizes.add(static_cast<std::uint64_t>(message.size));
        tags.add_signed(message.tag);
        communicators.add(message.communicator);
        last = message.end;
    }
    Packed result;
    result.add(messages.size());
    for (const Packed* const column : {&ends, &durations, &sources, &sizes, &tags, &communicators})
        result.add_all(*column);
    return result;
}

Packed TimelineReader::pack_marks(std::vector<Mark>& marks)
{
    std::ranges::stable_sort(marks, {}, &Mark::begin);
    Packed result;
    result.add(marks.size());
    std::int64_t last = 0;
    for (const Mark& mark : marks) {
        result.add(static_cast<std::uint64_t>(mark.kind));
        result.add_signed(mark.begin - last);
        result.add(static_cast<std::uint64_t>(std::max<std::int64_t>(mark.end - mark.begin, 0)));
        result.add(mark.name);
        result.add(mark.depth);
        result.add_double(mark.value);
        last = mark.begin;
    }
    return result;
}

void TimelineReader::finish()
{
    m_messages.finish();
    m_files.finish([this](std::int64_t, std::int64_t when) { return since_begin(when); });
    for_each_wait(m_history, m_waits, [&](const WaitState& wait, std::int64_t begin, std::int64_t end) {
        m_shares[wait.call.timeline].add(Shares::waiting, begin - m_begin, end - m_begin);
    });
    pack_groups();
}

// Browsers take a millisecond to begin with a stream, so lanes with few calls share one.
void TimelineReader::pack_groups()
{
    constexpr std::size_t enough = 1 << 13;
    std::vector<std::size_t> firsts;
    std::size_t in_group = 0;
    for (std::size_t i = 0; i < m_lanes.size(); ++i) {
        const Thread& thread = m_threads[i];
        const std::size_t size = thread.calls.size() + thread.messages.size() + thread.marks.size();
        if (i == 0 || in_group + size > enough) {
            firsts.push_back(i);
            in_group = 0;
        }
        in_group += size;
        m_lanes[i].group = firsts.size() - 1;
    }
    m_groups.resize(firsts.size());
    firsts.push_back(m_lanes.size());
    detail::for_each_position(m_groups.size(), [&](std::size_t number) {
        Packed group;
        for (std::size_t i = firsts[number]; i < firsts[number + 1]; ++i)
            pack_lane(i, group);
        m_groups[number] = compressed(group.bytes());
    });
}

void TimelineReader::pack_lane(std::size_t number, Packed& group)
{
    Thread& thread = m_threads[number];
    Lane& lane = m_lanes[number];
    lane.call_count = thread.calls.size() - thread.left_out;
    lane.message_count = thread.messages.size();
    group.add_all(thread.calls.finish());
    group.add_all(pack_messages(thread.messages));
    group.add_all(pack_waits(m_history, m_waits, number, m_begin));
    group.add_all(pack_marks(thread.marks));
    thread = {};
}

std::string TimelineReader::shares() const
{
    Packed all;
    for (const Shares& shares : m_shares)
        shares.pack(all);
    return compressed(all.bytes());
}

std::string TimelineReader::path() const
{
    return compressed(pack_path(m_history, m_path).bytes());
}

std::string TimelineReader::gatherings(std::vector<std::string_view>& names) const
{
    return compressed(pack_gatherings(m_history, names).bytes());
}

} // namespace hdtrace::report
