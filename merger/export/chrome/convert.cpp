// JSON in the trace-event format, which Perfetto, speedscope and chrome://tracing open.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "hdtrace/tools/output_file.h"
#include "merger/export/chrome/timeline.h"
#include "merger/export/format.h"
#include "merger/export/processes.h"

namespace hdtrace::exporter {

using chrome::Timeline;
using chrome::TraceEvents;
using chrome::Track;
using chrome::track_of;

namespace {

void write_name(TraceEvents& events, std::string_view what, const Track& track, std::string_view name,
                std::string_view order, std::int64_t place)
{
    events.begin("M", what, track).open_object<"args">().text<"name">(name).close_object().end();
    events.begin("M", order, track).open_object<"args">().number<"sort_index">(place).close_object().end();
}

/// Of a rank the host is told, too.
std::string name_with_host(const NumberedTraces& all, const TraceFile& trace)
{
    const std::string name = process_name(all, trace.rank, trace.labels);
    return trace.rank < all.first_other && !trace.labels.empty() ? name + " (" + trace.labels[0] + ")" : name;
}

void write_names(TraceEvents& events, const Project& project, const NumberedTraces& all)
{
    const auto names = thread_names(project);
    std::set<std::int64_t> named;
    for (const TraceFile& trace : all.traces) {
        const Track track = track_of(trace);
        if (named.insert(trace.rank).second)
            write_name(events, "process_name", track, name_with_host(all, trace), "process_sort_index",
                       trace.rank);
        const auto name = names.find({trace.rank, trace.thread});
        write_name(events, "thread_name", track,
                   "Thread " + std::to_string(trace.thread) +
                       (name == names.end() ? "" : " (" + name->second + ")"),
                   "thread_sort_index", trace.thread);
    }
    for (std::int64_t rank = 0; rank < all.rank_count; ++rank)
        if (!named.contains(rank))
            write_name(events, "process_name", {rank + 1, 1}, "Rank " + std::to_string(rank) + " (no trace)",
                       "process_sort_index", rank);
}

void convert_to_chrome(const Project& project, const Options& options, Account& account)
{
    const ObjectTable objects(project);
    const NumberedTraces numbered = numbered_traces(project);
    MergedTraces calls(numbered.traces, all_calls());
    const State* call = calls.next(); // the first one of all
    tools::OutputFile file(options.output);
    TraceEvents events([&](std::string_view text) { file.write(text); }, call ? call->time : 0);
    write_names(events, project, numbered);
    Timeline timeline(project, objects, events, account);
    MessageMatcher messages(objects, [&](const Message& message) { timeline.draw(message); });
    EventWalk walk({&timeline, &messages});
    for (; call != nullptr; call = calls.next())
        walk.add(calls.trace(), *call);
    messages.finish();
    timeline.finish();
    events.finish();
    file.commit(options.overwrite);
}

} // namespace

Format chrome_format()
{
    return {"chrome",
            "a file of JSON in the trace-event format, for Perfetto and speedscope",
            convert_to_chrome,
            {}};
}

} // namespace hdtrace::exporter
