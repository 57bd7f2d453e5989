#include "merger/export/tit/preparation.h"

#include <limits>

#include "hdtrace/format/read_ahead.h"
#include "hdtrace/matching/beginnings.h"
#include "hdtrace/matching/collectives.h"
#include "hdtrace/matching/messages.h"
#include "merger/export/processes.h"
#include "merger/export/rank_calls.h"
#include "merger/export/tit/actions.h"

namespace hdtrace::exporter {

namespace {

class ReceiveCollector : public EventVisitor {
  public:
    void completed(const Call& call, const Completion& completion) override
    {
        if (call.is_inside_call || completion.operation == nullptr || completion.operation->rid < 0 ||
            completion.operation->facts->receives == ReceiveKind::none)
            return;
        Received receive = posted(*completion.operation);
        receive.is_complete = completion.outcome == Outcome::completed;
        if (receive.is_complete && !has_to_be_looked_up(receive) && !got_other_size(completion))
            return;
        const Element& got = *completion.what;
        receive.source = got.integer("fromRank").value_or(receive.source);
        receive.tag = got.integer("fromTag").value_or(receive.tag);
        receive.size = got.integer("size").value_or(receive.size);
        received[completion.rid] = receive;
    }

    ReceivedByRid received;
};

/// Whether the replay of a call may wait for another process.
bool may_wait(const CallFacts& facts)
{
    if (facts.progress == CallProgress::waits)
        return true;
    return facts.progress == CallProgress::blocking && !is_computation(facts) &&
           (facts.call_class == CallClass::point_to_point || facts.call_class == CallClass::collective ||
            facts.makes == ObjectKind::communicator);
}

/// Calls come in the order in which they ended.
class OverlapFinder : public EventVisitor {
  public:
    void leave(const Call& call) override
    {
        if (call.is_inside_call || call.state.is_unfinished() || !may_wait(call.facts))
            return;
        const std::int64_t thread = call.trace.thread;
        if (m_last.thread != thread)
            m_last_of_another = m_last;
        found = found || call.state.time < m_last_of_another.end;
        m_last = {thread, call.state.end};
    }

    bool found = false;

  private:
    struct Ended {
        std::int64_t thread = -1;
        std::int64_t end = std::numeric_limits<std::int64_t>::min();
    };

    Ended m_last, m_last_of_another;
};

} // namespace

UnmatchedOperations find_unmatched_operations(const Project& project, const ObjectTable& objects)
{
    UnmatchedOperations unmatched;
    const auto call = [](std::int64_t rank, const MessageEnd& end) {
        return OperationCall{rank, end.thread, end.line, end.rid};
    };
    MessageMatcher matcher(objects, [&](const Message& message) {
        const bool was_too_large =
            message.send && message.receive && message.receive->size == 0 && message.send->size > 0;
        if (message.send && (!message.receive || was_too_large))
            unmatched.sends.insert(call(message.source, *message.send));
        if (message.send && message.receive && !message.receive->size_is_known)
            unmatched.received_sizes[call(message.destination, *message.receive)] = message.send->size;
        if (message.receive && (!message.send || was_too_large)) {
            const MessageEnd& end = *message.receive;
            unmatched.receives.insert(call(message.destination, end));
            unmatched.receives.insert({message.destination, end.thread, end.probe_line});
        }
    });
    const bool may_lack_calls = Beginnings(project).are_missing();
    CollectiveMatcher collectives(objects, [&](const Collective& collective) {
        const bool lacks_calls =
            may_lack_calls && collective.calls.size() < collective.communicator->members.size();
        if (!lacks_calls && std::ranges::none_of(collective.calls, &CollectiveCall::has_failed))
            return;
        for (const CollectiveCall& member : collective.calls)
            unmatched.collectives.insert({member.rank, member.thread, member.line});
    });
    ReadAhead calls(traces_of(project), all_calls());
    EventWalk walk({&matcher, &collectives});
    while (const ReadAhead::Item* call = calls.next())
        walk.add(*call->trace, call->state);
    matcher.finish();
    collectives.finish();
    return unmatched;
}

Received posted(const Operation& receive)
{
    const Element& call = *receive.call;
    return {call.integer("fromRank").value_or(any_rank), call.integer("fromTag").value_or(any_tag),
            call.integer(receive.facts->received_size).value_or(0)};
}

// Any source, any tag, and the size of what is split.
bool has_to_be_looked_up(const Received& posted)
{
    return posted.source == any_rank || posted.tag == any_tag || posted.size > ReplayActions::most_bytes;
}

// From nobody comes nothing, however much room there is, and the replay has nothing of it.
bool got_other_size(const Completion& receive)
{
    const Received asked = posted(*receive.operation);
    return asked.source != proc_null && receive.what->integer("size").value_or(asked.size) != asked.size;
}

ReceivedByRid find_received(const std::vector<TraceFile>& traces)
{
    ReceiveCollector collector;
    EventWalk walk({&collector});
    RankCalls(traces).walk(walk);
    for (const OperationPointer& operation : walk.requests().pending()) {
        if (operation->facts->receives != ReceiveKind::none)
            collector.received[operation->rid] = posted(*operation);
    }
    return std::move(collector.received);
}

bool is_computation(const CallFacts& facts)
{
    switch (facts.call_class) {
    case CallClass::communicator:
        return facts.makes != ObjectKind::communicator;
    case CallClass::datatype:
    case CallClass::query:
    case CallClass::event:
    case CallClass::other:
        return true;
    case CallClass::point_to_point: // such as making a part of a message ready
        return (facts.progress == CallProgress::local || facts.progress == CallProgress::asks) &&
               facts.probes == ProbeKind::none;
    default:
        return false;
    }
}

bool threads_overlap(const std::vector<TraceFile>& traces)
{
    if (traces.size() < 2)
        return false;
    OverlapFinder overlap;
    EventWalk walk({&overlap});
    RankCalls calls(traces);
    for (const State* call = nullptr; !overlap.found && (call = calls.next()) != nullptr;)
        walk.add(calls.trace(), *call);
    return overlap.found;
}

} // namespace hdtrace::exporter
