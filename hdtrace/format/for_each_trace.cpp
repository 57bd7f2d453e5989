#include "hdtrace/format/for_each_trace.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace hdtrace {

void for_each_trace(const std::vector<TraceFile>& traces, const std::function<void(const TraceFile&)>& work,
                    unsigned threads)
{
    std::atomic<std::size_t> next = 0;
    std::exception_ptr problem;
    std::once_flag first_problem;
    const auto work_on_traces = [&] {
        try {
            for (std::size_t i = next++; i < traces.size(); i = next++)
                work(traces[i]);
        } catch (...) {
            next = traces.size();
            std::call_once(first_problem, [&] { problem = std::current_exception(); });
        }
    };
    const std::size_t wanted = threads ? threads : std::max(1u, std::thread::hardware_concurrency());
    {
        std::vector<std::jthread> helpers;
        for (std::size_t i = 1; i < std::min(wanted, traces.size()); ++i)
            helpers.emplace_back(work_on_traces);
        work_on_traces();
    }
    if (problem)
        std::rethrow_exception(problem);
}

} // namespace hdtrace
