#include "merger/export/otf2/received_sizes.h"

#include "hdtrace/matching/messages.h"

namespace hdtrace::exporter::otf2 {

namespace {

/// Ours say their version, and their receives the size. All traces of a run are of the same tool.
bool are_foreign(const std::vector<TraceFile>& traces)
{
    return !traces.empty() && !TrcReader(traces.front().path).attributes().value("version");
}

} // namespace

ReceivedSizes::ReceivedSizes(const std::vector<TraceFile>& traces, const ObjectTable& objects)
{
    if (!are_foreign(traces))
        return;
    MessageMatcher matcher(objects, [this](const Message& message) {
        if (message.send && message.receive && !message.receive->size_is_known)
            m_sizes[{message.destination, message.receive->thread, message.receive->line,
                     message.receive->rid}] = message.receive->size;
    });
    MergedTraces calls(traces);
    EventWalk({&matcher}).add_all(calls);
    matcher.finish();
}

std::int64_t ReceivedSizes::of(const Operation& receive) const
{
    const auto found = m_sizes.find({receive.rank, receive.thread, receive.line, receive.rid});
    return found == m_sizes.end() ? 0 : found->second;
}

} // namespace hdtrace::exporter::otf2
