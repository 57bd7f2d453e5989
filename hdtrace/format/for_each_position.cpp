#include "hdtrace/format/for_each_position.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace hdtrace::detail {

void for_each_position(std::size_t count, const std::function<void(std::size_t)>& work, unsigned threads)
{
    std::atomic<std::size_t> next = 0;
    std::exception_ptr problem;
    std::once_flag first_problem;
    const auto work_on_some = [&] {
        try {
            for (std::size_t i = next++; i < count; i = next++)
                work(i);
        } catch (...) {
            next = count;
            std::call_once(first_problem, [&] { problem = std::current_exception(); });
        }
    };
    const std::size_t wanted = threads ? threads : std::max(1u, std::thread::hardware_concurrency());
    {
        std::vector<std::jthread> helpers;
        try {
            for (std::size_t i = 1; i < std::min(wanted, count); ++i)
                helpers.emplace_back(work_on_some);
        } catch (const std::system_error&) { // there may be no more threads: those that are there do it
        }
        work_on_some();
    }
    if (problem)
        std::rethrow_exception(problem);
}

} // namespace hdtrace::detail
