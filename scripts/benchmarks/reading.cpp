// Reads traces from their beginnings to their ends and prints how many calls they hold.
//
//     reading single TRACE...    each trace by itself, on one core
//     reading all TRACE...       the same on all cores
//     reading merged TRACE...    all traces as one stream in the order of time
#include <atomic>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "hdtrace/format/for_each_trace.h"
#include "hdtrace/format/merged_traces.h"

using namespace hdtrace;

namespace {

std::size_t count(const State& state)
{
    std::size_t calls = state.is_event ? 0 : 1;
    for (const State& nested : state.nested)
        calls += count(nested);
    return calls;
}

std::size_t count_single(const std::string& path)
{
    std::size_t calls = 0;
    TrcReader reader(path);
    State state;
    while (reader.next(state))
        calls += count(state);
    return calls;
}

std::size_t count_merged(const std::vector<TraceFile>& traces)
{
    std::size_t calls = 0;
    MergedTraces merged(traces);
    while (const State* state = merged.next())
        calls += count(*state);
    return calls;
}

std::size_t count_calls(const std::string& how, const std::vector<TraceFile>& traces)
{
    if (how == "merged")
        return count_merged(traces);
    std::atomic<std::size_t> calls = 0;
    for_each_trace(
        traces, [&](const TraceFile& trace) { calls += count_single(trace.path); }, how == "all" ? 0 : 1);
    return calls;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 3) {
        std::fprintf(stderr, "usage: %s single|all|merged TRACE...\n", argv[0]);
        return 2;
    }
    try {
        std::vector<TraceFile> traces;
        for (int i = 2; i < argc; ++i)
            traces.push_back({argv[i], i, 0, {}});
        std::printf("%zu\n", count_calls(argv[1], traces));
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
