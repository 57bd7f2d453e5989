#include "hdtrace/explaining/ideal_network.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "hdtrace/explaining/activities.h"

namespace hdtrace {
namespace {

using Number = std::uint32_t;

/// A step at which a thread comes to a gathering.
struct Arrival {
    Number step;
    Number number; ///< of the gathering
};

/// A step at which it can leave it.
struct Part {
    Number step;
    Number number;
    Number member; ///< position in the gathering
};

Number step_of(const Need& need)
{
    return need.call.step;
}
template <class Item> Number step_of(const Item& item)
{
    return item.step;
}

template <class Item> void sort_by_step(std::vector<std::vector<Item>>& items)
{
    for (std::vector<Item>& of_timeline : items)
        std::ranges::stable_sort(of_timeline, {}, &Item::step);
}

/// Not more memory than they need, as there are as many as calls.
template <class Item>
void reserve(std::vector<std::vector<Item>>& items, const std::vector<std::size_t>& counts)
{
    for (std::size_t i = 0; i < items.size(); ++i)
        items[i].reserve(counts[i]);
}

/// Those of a list that belong to a step, if steps are asked for in their order.
template <class Item> class Cursor {
  public:
    explicit Cursor(std::span<const Item> items) : m_rest(items) {}
    std::span<const Item> at(Number step)
    {
        while (!m_rest.empty() && step_of(m_rest.front()) < step)
            m_rest = m_rest.subspan(1);
        std::size_t count = 0;
        while (count < m_rest.size() && step_of(m_rest[count]) == step)
            ++count;
        return m_rest.first(count);
    }

  private:
    std::span<const Item> m_rest;
};

/// Steps of a thread that others may wait for, and when it came to them.
struct AwaitedSteps {
    std::vector<Number> steps;
    std::vector<std::int64_t> times; ///< of as many of them as it has come to

    void sort()
    {
        std::ranges::sort(steps);
        const auto rest = std::ranges::unique(steps);
        steps.erase(rest.begin(), rest.end());
        times.reserve(steps.size());
    }
    /// In the order of the steps.
    void came(Number step, std::int64_t time)
    {
        while (times.size() < steps.size() && steps[times.size()] <= step)
            times.push_back(time);
    }
    std::int64_t time_of(Number step) const
    {
        return times[std::ranges::lower_bound(steps, step) - steps.begin()];
    }
};

bool has_root(const Gathering& gathering)
{
    return gathering.root >= 0 && gathering.root < std::ssize(gathering.members);
}

class Replay {
  public:
    Replay(const History& history, const std::vector<WaitState>& waits)
        : m_history(history), m_waits(history, waits), m_arrivals(history.timelines.size()),
          m_ends(history.timelines.size()), m_waiters(history.timelines.size())
    {
        add_gatherings();
        for (Number i = 0; i < history.timelines.size(); ++i)
            m_threads.emplace_back(history, i, m_arrivals[i], m_ends[i]);
        add_awaited();
    }

    std::vector<IdealThread> run()
    {
        for (Number i = 0; i < m_threads.size(); ++i)
            m_ready.push_back(i);
        while (true) {
            while (!m_ready.empty()) {
                const Number thread = m_ready.front();
                m_ready.pop_front();
                run(thread);
            }
            if (!release_one())
                break;
        }
        std::vector<IdealThread> threads;
        for (const Thread& thread : m_threads)
            threads.push_back({thread.time, thread.file_time});
        return threads;
    }

  private:
    struct Thread {
        Thread(const History& history, Number timeline, const std::vector<Arrival>& arrivals,
               const std::vector<Part>& ends)
            : working(working_part(history.timelines[timeline], history.places)), step(working.first),
              time(working.begin), needs(history.needs_of(timeline)), arrivals(arrivals), ends(ends)
        {
        }
        bool is_done() const { return step >= working.last; }

        Working working;
        Number step; ///< that it is in, or comes to next
        bool is_in_step = false;
        bool goes_on = false; ///< whatever it waits for
        bool has_ended = false;
        std::int64_t time;
        std::int64_t file_time = 0;
        Cursor<Need> needs;
        Cursor<Arrival> arrivals;
        Cursor<Part> ends;
        AwaitedSteps awaited;
    };
    struct Meeting {
        Number arrived = 0, awaited = 0; ///< members
        std::int64_t latest = INT64_MIN;
        bool synchronises = true; ///< nobody left before the last one came
    };

    /// Which steps others may wait for.
    void add_awaited()
    {
        const auto add = [&](StepId id) { m_threads[id.timeline].awaited.steps.push_back(id.step); };
        for (const Need& need : m_history.needs)
            add(need.of);
        for (std::size_t i = 0; i < m_history.gatherings.size(); ++i) {
            const Gathering& gathering = m_history.gatherings[i];
            const Awaited awaited = facts_of(gathering.kind).awaited;
            if (awaited == Awaited::root && has_root(gathering))
                add(gathering.members[gathering.root].call);
            else if (awaited == Awaited::lower)
                for (const Gathering::Member& member : gathering.members)
                    add(member.call);
        }
        for (Thread& thread : m_threads)
            thread.awaited.sort();
    }

    void add_gatherings()
    {
        std::vector<std::size_t> arrivals(m_arrivals.size()), ends(m_ends.size());
        for (std::size_t i = 0; i < m_history.gatherings.size(); ++i)
            for (const auto& [call, end, has_ended] : m_history.gatherings[i].members) {
                ++arrivals[call.timeline];
                ends[end.timeline] += has_ended;
            }
        reserve(m_arrivals, arrivals);
        reserve(m_ends, ends);
        m_meetings.resize(m_history.gatherings.size());
        for (std::size_t i = 0; i < m_history.gatherings.size(); ++i) {
            const Gathering& gathering = m_history.gatherings[i];
            const auto number = static_cast<Number>(i);
            std::int64_t last = INT64_MIN, first_end = INT64_MAX;
            for (Number m = 0; m < gathering.members.size(); ++m) {
                const auto& [call, end, has_ended] = gathering.members[m];
                if (is_awaited(gathering, gathering.members[m])) {
                    m_arrivals[call.timeline].push_back({call.step, number});
                    ++m_meetings[i].awaited;
                }
                if (has_ended)
                    m_ends[end.timeline].push_back({end.step, number, m});
                last = std::max(last, m_history.step(call).begin);
                first_end = std::min(first_end, has_ended ? m_history.step(end).end : INT64_MAX);
            }
            const bool is_for_all = facts_of(gathering.kind).awaited == Awaited::all;
            m_meetings[i].synchronises = !is_for_all || !gathering.may_return_early || first_end >= last;
        }
        sort_by_step(m_arrivals);
        sort_by_step(m_ends);
    }

    /// Not whose data is empty if the root went on without it.
    bool is_awaited(const Gathering& gathering, const Gathering::Member& member) const
    {
        if (facts_of(gathering.kind).awaited != Awaited::others || !has_root(gathering))
            return true;
        const Gathering::Member& root = gathering.members[static_cast<std::size_t>(gathering.root)];
        return !root.has_ended || m_history.may_have_waited(gathering, root, member);
    }

    void run(Number number)
    {
        Thread& thread = m_threads[number];
        const Steps& steps = m_history.timelines[number].steps;
        while (!thread.is_done()) {
            if (!thread.is_in_step)
                arrive(number);
            if (!thread.goes_on && !can_end(number))
                return;
            thread.goes_on = false;
            const std::int64_t file_time = file_time_of({number, thread.step});
            thread.time += file_time;
            thread.file_time += file_time;
            thread.is_in_step = false;
            ++thread.step;
        }
        if (!std::exchange(thread.has_ended, true) && thread.working.last > 0)
            thread.time += thread.working.end - steps[thread.working.last - 1].end;
    }

    /// The computation before the step is done.
    void arrive(Number number)
    {
        Thread& thread = m_threads[number];
        const Steps& steps = m_history.timelines[number].steps;
        const std::int64_t from =
            thread.step > thread.working.first ? steps[thread.step - 1].end : thread.working.begin;
        thread.time += steps[thread.step].begin - from;
        thread.awaited.came(thread.step, thread.time);
        thread.is_in_step = true;
        for (const Arrival& arrival : thread.arrivals.at(thread.step))
            arrive_at(arrival.number, thread.time);
        std::erase_if(m_waiters[number], [&](const auto& waiter) {
            if (waiter.first <= thread.step)
                m_ready.push_back(waiter.second);
            return waiter.first <= thread.step;
        });
    }

    void arrive_at(Number gathering, std::int64_t time)
    {
        Meeting& meeting = m_meetings[gathering];
        ++meeting.arrived;
        meeting.latest = std::max(meeting.latest, time);
        const bool is_for_all = facts_of(m_history.gatherings[gathering].kind).awaited == Awaited::all;
        if (is_for_all && meeting.arrived < meeting.awaited)
            return;
        if (const auto waiters = m_at_gathering.extract(gathering))
            m_ready.insert(m_ready.end(), waiters.mapped().begin(), waiters.mapped().end());
    }

    bool has_come(StepId step) const
    {
        const Thread& thread = m_threads[step.timeline];
        return step.step < thread.step || (step.step == thread.step && thread.is_in_step) ||
               step.step >= thread.working.last;
    }
    /// To a step to which it has come.
    std::int64_t came(StepId step) const
    {
        const Thread& thread = m_threads[step.timeline];
        if (step.step >= thread.working.last)
            return thread.time;
        return step.step < thread.working.first ? m_history.step(step).begin
                                                : thread.awaited.time_of(step.step);
    }

    /// If the step that a thread is in can end now, moves its time to when; else it is woken later.
    bool can_end(Number number)
    {
        Thread& thread = m_threads[number];
        std::int64_t time = thread.time;
        for (const Need& need : thread.needs.at(thread.step)) {
            const StepId of = need.of;
            if (!has_come(of)) {
                m_waiters[of.timeline].emplace_back(of.step, number);
                return false;
            }
            time = std::max(time, came(of));
        }
        for (const Part& part : thread.ends.at(thread.step)) {
            const auto end = end_of(part);
            if (!end) {
                m_at_gathering[part.number].push_back(number);
                return false;
            }
            time = std::max(time, *end);
        }
        thread.time = time;
        return true;
    }

    /// When a member of a gathering can go on, if that is known.
    std::optional<std::int64_t> end_of(const Part& part) const
    {
        const Gathering& gathering = m_history.gatherings[part.number];
        const Meeting& meeting = m_meetings[part.number];
        const auto& members = gathering.members;
        const bool is_root = has_root(gathering) && part.member == static_cast<Number>(gathering.root);
        const auto all = [&] {
            return meeting.arrived >= meeting.awaited ? std::optional(meeting.latest) : std::nullopt;
        };
        if (!meeting.synchronises)
            return INT64_MIN;
        switch (facts_of(gathering.kind).awaited) {
        case Awaited::all:
            return all();
        case Awaited::others:
            return is_root ? all() : INT64_MIN;
        case Awaited::root:
            if (!has_root(gathering) || is_root ||
                !m_history.may_have_waited(gathering, members[part.member], members[gathering.root]))
                return INT64_MIN;
            return has_come(members[gathering.root].call) ? std::optional(came(members[gathering.root].call))
                                                          : std::nullopt;
        case Awaited::lower: {
            std::int64_t latest = INT64_MIN;
            for (Number i = 0; i < part.member; ++i) {
                if (!m_history.may_have_waited(gathering, members[part.member], members[i]))
                    continue;
                if (!has_come(members[i].call))
                    return {};
                latest = std::max(latest, came(members[i].call));
            }
            return latest;
        }
        case Awaited::sources: // needs tell of them
        case Awaited::nobody:
            break;
        }
        return INT64_MIN;
    }

    /// Of an access to a file, without waiting.
    std::int64_t file_time_of(StepId id) const
    {
        const CallFacts* const call = m_history.place(id).call;
        if (!call || call->call_class != CallClass::file)
            return 0;
        const Step step = m_history.step(id);
        std::int64_t time = step.end - step.begin;
        for (const WaitState* wait = m_waits.from(id); wait != m_waits.end(id.timeline) && wait->call == id;
             ++wait)
            time -= wait->time;
        return std::max<std::int64_t>(time, 0);
    }

    /// If nobody can go on, because traces are not whole, one of those does who came first.
    bool release_one()
    {
        Thread* first = nullptr;
        Number number = 0;
        for (Number i = 0; i < m_threads.size(); ++i)
            if (Thread& thread = m_threads[i]; !thread.is_done() && (!first || thread.time < first->time)) {
                first = &thread;
                number = i;
            }
        if (!first)
            return false;
        first->goes_on = true;
        m_ready.push_back(number);
        return true;
    }

    const History& m_history;
    const WaitsOfTimelines m_waits;
    std::vector<std::vector<Arrival>> m_arrivals;                   // by timeline
    std::vector<std::vector<Part>> m_ends;                          // by timeline
    std::vector<std::vector<std::pair<Number, Number>>> m_waiters;  // for a step of a timeline: who
    std::unordered_map<Number, std::vector<Number>> m_at_gathering; // who waits there
    std::vector<Meeting> m_meetings;                                // as the gatherings
    std::vector<Thread> m_threads;
    std::deque<Number> m_ready;
};

} // namespace

Working working_part(const Timeline& timeline, const std::vector<Place>& places)
{
    const auto count = static_cast<Number>(timeline.steps.size());
    Working working{0, count, timeline.begin(), timeline.end()};
    for (Number i = 0; i < count; ++i) {
        const CallFacts* const call = places[timeline.steps[i].place].call;
        if (call && call->life == LifeCycle::begins) {
            working.first = i + 1;
            working.begin = timeline.steps[i].end;
        } else if (call && call->life == LifeCycle::ends) {
            working.last = std::max(i, working.first);
            working.end = std::max(timeline.steps[i].begin, working.begin);
            break;
        }
    }
    return working;
}

std::vector<IdealThread> replay_on_ideal_network(const History& history, const std::vector<WaitState>& waits)
{
    return Replay(history, waits).run();
}

} // namespace hdtrace
