#include "hdtrace/checking/races.h"

#include <limits>
#include <vector>

#include "hdtrace/checking/file_conflicts.h"
#include "hdtrace/checking/message_races.h"
#include "hdtrace/checking/ready_sends.h"
#include "hdtrace/checking/window_conflicts.h"
#include "hdtrace/matching/saturated.h"

namespace hdtrace {
namespace {

Selection all_states()
{
    Selection selection;
    selection.unfinished = true;
    return selection;
}

} // namespace

void RaceSigns::leave(const Call& call)
{
    m_any = m_any || call.facts.sends == SendMode::ready || call.facts.access != WindowAccess::none ||
            call.state.integer("postedRank") == -1 ||
            (call.facts.receives != ReceiveKind::none && call.state.integer("fromRank") == -1) ||
            (call.facts.probes != ProbeKind::none && call.state.integer("source") == -1);
    if (call.facts.file != FileAccess::view)
        return;
    if (const ProjectFile* file = m_objects.file(call.trace.rank, call.state)) // it may show any of its bytes
        m_files[file][call.trace.rank] = {0, std::numeric_limits<std::int64_t>::max()};
}

void RaceSigns::accessed(const Call& call, const Operation& operation)
{
    const std::int64_t begin = operation.call->integer("offset").value_or(-1);
    const std::int64_t size = operation.call->integer("size").value_or(0);
    const ProjectFile* file = m_objects.file(operation.rank, *operation.call);
    if (call.is_inside_call || !file || begin < 0 || size <= 0)
        return;
    Span& span = m_files[file].try_emplace(operation.rank, Span{begin, begin}).first->second;
    span.begin = std::min(span.begin, begin);
    span.end = std::max(span.end, saturated_sum(begin, size));
    span.is_written = span.is_written || operation.facts->file == FileAccess::write;
}

bool RaceSigns::shares_written_bytes(const File& file)
{
    std::vector<const Span*> spans;
    for (const auto& [rank, span] : file.second)
        spans.push_back(&span);
    std::ranges::sort(spans, {}, &Span::begin);
    std::int64_t end = std::numeric_limits<std::int64_t>::min(); // of those before
    bool is_written = false;                                     // by one of those before
    for (const Span* span : spans) {
        if (span->begin < end && (span->is_written || is_written))
            return true;
        end = std::max(end, span->end);
        is_written = is_written || span->is_written;
    }
    return false;
}

void find_races(Findings& findings, const std::vector<SendDuringReceive>& undecided)
{
    const ObjectTable& objects = findings.objects();
    CausalOrder order(objects);
    MessageRaces messages(findings, order);
    WindowConflicts windows(findings, order);
    FileConflicts files(findings, order);
    SendsDuringReceives sends(undecided, findings, order);
    ReadySends ready_sends(findings, order);
    MessageMatcher matcher(objects, [&](const Message& message) {
        messages.add(message);
        if (!message.send || !message.receive)
            return;
        sends.add(message);
        ready_sends.add(message);
        order.add(message);
    });
    EventWalk walk({&windows, &files, &order, &messages, &matcher});
    MergedTraces calls(findings.project().existing_traces(), all_states());
    walk.add_all(calls);
    matcher.finish();
    if (order.is_full()) {
        for (const FindingKind kind :
             {FindingKind::message_race, FindingKind::message_order, FindingKind::ready_send_early,
              FindingKind::rma_conflict, FindingKind::file_conflict})
            findings.set_incomplete(kind);
        return sends.finish();
    }
    messages.prepare();
    windows.prepare();
    files.prepare();
    sends.prepare();
    ready_sends.prepare();
    order.finish();
    messages.finish();
    windows.finish();
    files.finish();
    ready_sends.finish();
    sends.finish();
}

} // namespace hdtrace
