#include "hdtrace/format/for_each_position.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace hdtrace::detail {

std::size_t number_of_threads(unsigned threads)
{
    return threads ? threads : std::max(1u, std::thread::hardware_concurrency());
}

void for_each_position(std::size_t count, const std::function<void(std::size_t)>& work, unsigned threads)
{
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::map<std::size_t, std::exception_ptr> failures;
    const auto work_on_some = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            try {
                work(i);
            } catch (...) {
                next = count;
                const std::lock_guard lock(mutex);
                failures.emplace(i, std::current_exception());
            }
        }
    };
    {
        std::vector<std::jthread> helpers;
        try {
            for (std::size_t i = 1; i < std::min(number_of_threads(threads), count); ++i)
                helpers.emplace_back(work_on_some);
        } catch (const std::system_error&) {
        }
        work_on_some();
    }
    if (!failures.empty())
        std::rethrow_exception(failures.begin()->second);
}

} // namespace hdtrace::detail
