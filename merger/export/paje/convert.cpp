// The format of Paje.

#include <algorithm>

#include "hdtrace/format/read_ahead.h"
#include "hdtrace/matching/messages.h"
#include "hdtrace/tools/output_file.h"
#include "merger/export/format.h"
#include "merger/export/paje/timeline.h"
#include "merger/export/processes.h"

namespace hdtrace::exporter {
namespace {

using paje::SortedLinks;

/// Readers want all events in the order of time, and where a message ends is known behind its beginning.
void collect(const std::vector<TraceFile>& traces, const ObjectTable& objects, SortedLinks& links,
             Account& account)
{
    std::int64_t number = 0, without_arrow = 0, back_in_time = 0;
    MessageMatcher messages(objects, [&](const Message& message) {
        const auto& [ignored, source, destination, tag, send, receive] = message;
        if (!send || !receive) {
            ++without_arrow;
            return;
        }
        const std::int64_t arrival = arrival_of(message);
        back_in_time += arrival < send->time;
        links.add({send->time, 0, number, source, send->thread, send->size});
        links.add({std::max(send->time, arrival), 1, number, destination, receive->thread, send->size});
        ++number;
    });
    ReadAhead calls(traces, all_calls());
    EventWalk walk({&messages});
    while (const ReadAhead::Item* call = calls.next())
        walk.add(*call->trace, call->state);
    messages.finish();
    links.sort();
    if (without_arrow > 0)
        account.note(std::to_string(without_arrow) +
                     " sends and receives have no arrow: the trace does not have the other end");
    if (back_in_time > 0)
        account.note(std::to_string(back_in_time) +
                     " arrows end where they begin: by the clocks of the hosts they go back in time");
}

void convert_to_paje(const Project& project, const Options& options, Account& account)
{
    const ObjectTable objects(project);
    const NumberedTraces numbered = numbered_traces(project);
    const std::vector<TraceFile>& traces = numbered.traces;
    tools::OutputFile file(options.output);
    SortedLinks links;
    collect(traces, objects, links, account);
    ReadAhead calls(traces, all_calls());
    const ReadAhead::Item* call = calls.next(); // the first one of all
    TextOutput output([&](std::string_view text) { file.write(text); });
    paje::Timeline timeline(objects, links, output, account);
    timeline.begin(project, numbered, call ? call->state.time : 0);
    EventWalk walk({&timeline}, EventWalk::Follow::calls);
    for (; call != nullptr; call = calls.next())
        walk.add(*call->trace, call->state);
    timeline.finish();
    file.commit(options.overwrite);
}

} // namespace

Format paje_format()
{
    return {"paje", "a file in the format of Paje, for pj_dump and ViTE", convert_to_paje, {}};
}

} // namespace hdtrace::exporter
