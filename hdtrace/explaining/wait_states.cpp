#include "hdtrace/explaining/wait_states.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace hdtrace {
namespace {

class WaitFinder {
  public:
    explicit WaitFinder(const History& history) : m_history(history) {}

    std::vector<WaitState> find()
    {
        visit_history(); // only counts them: not more memory than they need
        m_waits.reserve(std::exchange(m_count, 0));
        m_is_counting = false;
        visit_history();
        keep_longest();
        mark_wrong_orders();
        shorten_completions();
        return std::move(m_waits);
    }

  private:
    using Member = Gathering::Member;

    std::int64_t begin_of(StepId call) const { return m_history.step(call).begin; }

    /// A call that waits, until @p cause begins at the latest.
    void add(WaitKind kind, StepId call, StepId cause)
    {
        const Step step = m_history.step(call);
        const std::int64_t time = std::min(begin_of(cause), step.end) - step.begin;
        const CallProgress progress = m_history.place(call).call->progress;
        const bool may_wait = progress == CallProgress::blocking || progress == CallProgress::waits;
        if (time > 0 && may_wait && call != cause)
            add(WaitState{call, cause, std::min(time, WaitState::longest), kind});
    }

    void add(const WaitState& wait)
    {
        if (m_is_counting)
            ++m_count;
        else
            m_waits.push_back(wait);
    }

    void visit_history()
    {
        for (const Need& need : m_history.needs)
            add(need.kind, need.call, need.of);
        for (std::size_t i = 0; i < m_history.gatherings.size(); ++i)
            add_gathering(m_history.gatherings[i]);
    }

    void add_gathering(const Gathering& gathering)
    {
        const auto& members = gathering.members;
        if (members.size() < 2)
            return;
        const bool has_root = gathering.root >= 0 && gathering.root < std::ssize(members);
        switch (facts_of(gathering.kind).awaited) {
        case Awaited::all:
            return wait_for_all(gathering);
        case Awaited::root:
            if (has_root)
                for (const Member& member : members)
                    add_member(gathering, member, members[gathering.root]);
            return;
        case Awaited::others:
            if (has_root)
                add_member(gathering, members[gathering.root], last_awaited(gathering));
            return;
        case Awaited::lower:
            for (const Member* last = &members.front(); const Member& member : members) {
                last = begin_of(member.call) > begin_of(last->call) ? &member : last;
                add_member(gathering, member, *last);
            }
            return;
        case Awaited::sources: // needs tell of them
        case Awaited::nobody:
            return;
        }
    }

    const Member& last_of(const Gathering& gathering) const
    {
        return *std::ranges::max_element(gathering.members, {},
                                         [&](const Member& member) { return begin_of(member.call); });
    }

    /// Of those for whom the root can have waited; the root itself if it waited for nobody.
    const Member& last_awaited(const Gathering& gathering) const
    {
        const Member& root = gathering.members[static_cast<std::size_t>(gathering.root)];
        const Member* last = &root;
        for (const Member& member : gathering.members)
            if (begin_of(member.call) > begin_of(last->call) &&
                m_history.may_have_waited(gathering, root, member))
                last = &member;
        return *last;
    }

    void add_member(const Gathering& gathering, const Member& member, const Member& last)
    {
        if (member.has_ended && m_history.may_have_waited(gathering, member, last))
            add(gathering.kind, member.end, last.call);
    }

    void wait_for_all(const Gathering& gathering)
    {
        const Member& last = last_of(gathering);
        for (const Member& member : gathering.members)
            add_member(gathering, member, last);
        if (const auto completion = facts_of(gathering.kind).completion)
            add_completion(gathering, *completion, begin_of(last.call));
    }

    /// What blocking members need longer than the first of them, once all have come.
    void add_completion(const Gathering& gathering, WaitKind kind, std::int64_t all_came)
    {
        const auto blocks = [](const Member& member) {
            return member.has_ended && member.end == member.call;
        };
        std::int64_t first = std::numeric_limits<std::int64_t>::max();
        for (const Member& member : gathering.members)
            if (blocks(member))
                first = std::min(first, m_history.step(member.end).end);
        first = std::max(first, all_came);
        for (const Member& member : gathering.members) {
            const std::int64_t end = blocks(member) ? m_history.step(member.end).end : first;
            if (end > first)
                add(WaitState{member.call, member.call, std::min(end - first, WaitState::longest), kind});
        }
    }

    /// Of each call: of those that others end, and of its completions, which come behind them.
    void keep_longest()
    {
        std::ranges::sort(m_waits, [](const WaitState& a, const WaitState& b) {
            return std::tuple(a.call, !a.has_cause(), -a.time, a.cause, a.kind) <
                   std::tuple(b.call, !b.has_cause(), -b.time, b.cause, b.kind);
        });
        const auto rest = std::ranges::unique(m_waits, [](const WaitState& a, const WaitState& b) {
            return a.call == b.call && a.has_cause() == b.has_cause();
        });
        m_waits.erase(rest.begin(), rest.end());
    }

    /// In traces that are not true a call may belong to several operations: what is left of it.
    void shorten_completions()
    {
        const WaitState* before = nullptr;
        for (WaitState& wait : m_waits) {
            if (!wait.has_cause()) {
                const Step step = m_history.step(wait.call);
                const std::int64_t waited = before && before->call == wait.call ? before->time : 0;
                wait.time = std::min<std::int64_t>(wait.time, step.end - step.begin - waited);
            }
            before = &wait;
        }
        std::erase_if(m_waits, [](const WaitState& wait) { return wait.time <= 0; });
    }

    /// A receiver that waits for a message while one that was sent before is received after it. Not if it
    /// gives something to others between them, as that may be what it waits for: so it is with neighbours of
    /// which one is a step ahead.
    void mark_wrong_orders()
    {
        auto wait = m_waits.rbegin(); // of the last timeline, from its end on
        for (auto timeline = static_cast<std::uint32_t>(m_history.timelines.size()); timeline-- > 0;) {
            std::int64_t earliest_later = std::numeric_limits<std::int64_t>::max();
            const std::span<const Need> needs = m_history.needs_of(timeline);
            auto later = needs.rbegin();
            std::size_t step = m_history.timelines[timeline].steps.size(); // those from here on are known
            for (; wait != m_waits.rend() && wait->call.timeline == timeline; ++wait) {
                while (step > wait->call.step + 1) {
                    --step;
                    for (; later != needs.rend() && later->call.step >= step; ++later)
                        if (later->kind == WaitKind::late_sender)
                            earliest_later = std::min(earliest_later, begin_of(later->of));
                    if (gives({timeline, static_cast<std::uint32_t>(step)}))
                        earliest_later = std::numeric_limits<std::int64_t>::max();
                }
                if (wait->kind == WaitKind::late_sender && earliest_later < begin_of(wait->cause))
                    wait->kind = WaitKind::wrong_order;
            }
        }
    }

    bool gives(StepId step) const
    {
        const CallFacts* const call = m_history.place(step).call;
        return call && (call->sends != SendMode::none || call->collective != CollectiveKind::none ||
                        call->progress == CallProgress::activates);
    }

    const History& m_history;
    bool m_is_counting = true;
    std::size_t m_count = 0;
    std::vector<WaitState> m_waits;
};

} // namespace

std::vector<WaitState> find_wait_states(const History& history)
{
    return WaitFinder(history).find();
}

std::vector<WaitSum> sum_up(const History& history, const std::vector<WaitState>& waits)
{
    std::map<std::tuple<WaitKind, std::int64_t, std::uint32_t, bool, std::int64_t, std::uint32_t>, WaitSum>
        sums;
    for (const WaitState& wait : waits) {
        const std::int64_t rank = history.timelines[wait.call.timeline].rank;
        const std::int64_t cause_rank = history.timelines[wait.cause.timeline].rank;
        const std::uint32_t place = history.step(wait.call).place;
        const std::uint32_t cause_place = history.step(wait.cause).place;
        WaitSum& sum = sums[{wait.kind, rank, place, wait.has_cause(), cause_rank, cause_place}];
        sum = {wait.kind,    rank, place, wait.has_cause(), cause_rank, cause_place, sum.time + wait.time,
               sum.count + 1};
    }
    std::vector<WaitSum> largest_first;
    for (const auto& [key, sum] : sums)
        largest_first.push_back(sum);
    std::ranges::stable_sort(largest_first, std::ranges::greater(), &WaitSum::time);
    return largest_first;
}

} // namespace hdtrace
