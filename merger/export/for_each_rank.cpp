#include "merger/export/for_each_rank.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace hdtrace::exporter {

void for_each_rank(std::size_t count, const std::function<void(std::size_t)>& work)
{
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::map<std::size_t, std::exception_ptr> failures;
    const auto work_on_ranks = [&] {
        for (std::size_t rank = next++; rank < count; rank = next++) {
            try {
                work(rank);
            } catch (...) {
                next = count;
                const std::lock_guard lock(mutex);
                failures.emplace(rank, std::current_exception());
            }
        }
    };
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    {
        std::vector<std::jthread> helpers;
        for (std::size_t i = 1; i < std::min(cores, count); ++i)
            helpers.emplace_back(work_on_ranks);
        work_on_ranks();
    }
    if (!failures.empty())
        std::rethrow_exception(failures.begin()->second);
}

} // namespace hdtrace::exporter
