#include "hdtrace/report/overlays.h"

#include <algorithm>
#include <unordered_map>

namespace hdtrace::report {
namespace {

// Times are told as what has passed since the one before.
class Times {
  public:
    explicit Times(std::int64_t origin) : m_last(origin) {}
    void add(Packed& to, std::int64_t time)
    {
        to.add_signed(time - m_last);
        m_last = time;
    }

  private:
    std::int64_t m_last;
};

Packed columns(std::size_t count, std::initializer_list<const Packed*> all)
{
    Packed result;
    result.add(count);
    for (const Packed* const column : all)
        result.add_all(*column);
    return result;
}

struct Meeting {
    std::int64_t first = 0, last = 0, end = 0;
    std::uint32_t latest = 0;
};

Meeting meeting_of(const History& history, const Gathering& gathering)
{
    Meeting result{.first = history.step(gathering.members.front().call).begin};
    result.last = result.end = result.first;
    result.latest = gathering.members.front().call.timeline;
    for (const Gathering::Member& member : gathering.members) {
        const Step step = history.step(member.call);
        result.first = std::min(result.first, step.begin);
        if (step.begin > result.last) {
            result.last = step.begin;
            result.latest = member.call.timeline;
        }
        if (member.has_ended)
            result.end = std::max(result.end, history.step(member.end).end);
    }
    result.end = std::max(result.end, result.last);
    return result;
}

} // namespace

Packed pack_waits(const History& history, const std::vector<WaitState>& waits, std::size_t timeline,
                  std::int64_t origin)
{
    Packed kinds, begins, durations, causes;
    Times times(origin);
    const auto of_timeline =
        std::ranges::equal_range(waits, static_cast<std::uint32_t>(timeline), {},
                                 [](const WaitState& wait) { return wait.call.timeline; });
    const std::vector<WaitState> those(of_timeline.begin(), of_timeline.end());
    for_each_wait(history, those, [&](const WaitState& wait, std::int64_t begin, std::int64_t end) {
        kinds.add(static_cast<std::uint64_t>(wait.kind));
        times.add(begins, begin);
        durations.add(static_cast<std::uint64_t>(std::max<std::int64_t>(end - begin, 0)));
        causes.add(wait.has_cause() ? wait.cause.timeline + 1 : 0);
    });
    return columns(those.size(), {&kinds, &begins, &durations, &causes});
}

Packed pack_path(const History& history, const std::vector<PathPart>& path)
{
    Packed timelines, begins, durations;
    Times times(history.begin());
    for (const PathPart& part : path) {
        timelines.add(part.timeline);
        times.add(begins, part.begin);
        durations.add(static_cast<std::uint64_t>(std::max<std::int64_t>(part.end - part.begin, 0)));
    }
    return columns(path.size(), {&timelines, &begins, &durations});
}

Packed pack_gatherings(const History& history, std::vector<std::string_view>& names)
{
    Packed kinds, calls, communicators, firsts, lasts, ends, latest;
    Times times(history.begin());
    std::unordered_map<std::string_view, std::size_t> numbers;
    std::size_t count = 0;
    for (std::size_t i = 0; i < history.gatherings.size(); ++i) {
        const Gathering& gathering = history.gatherings[i];
        const CallFacts* const call =
            gathering.members.empty() ? nullptr : history.place(gathering.members.front().call).call;
        if (!call || gathering.members.size() < 2)
            continue;
        const Meeting meeting = meeting_of(history, gathering);
        const auto [name, is_new] = numbers.try_emplace(call->name, names.size());
        if (is_new)
            names.push_back(call->name);
        ++count;
        kinds.add(static_cast<std::uint64_t>(gathering.kind));
        calls.add(name->second);
        communicators.add(static_cast<std::uint64_t>(std::int64_t{gathering.communicator} + 1));
        times.add(firsts, meeting.first);
        lasts.add(static_cast<std::uint64_t>(meeting.last - meeting.first));
        ends.add(static_cast<std::uint64_t>(meeting.end - meeting.last));
        latest.add(meeting.latest);
    }
    return columns(count, {&kinds, &calls, &communicators, &firsts, &lasts, &ends, &latest});
}

} // namespace hdtrace::report
