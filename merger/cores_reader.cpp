#include "merger/cores_reader.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace hdtrace::merger {

void CoresReader::expect_traces(std::size_t count, JobAt job_at)
{
    stop();
    m_job_at = std::move(job_at);
    m_results = std::vector<Result>(count);
    m_begun = m_asked_for = 0;
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    try {
        for (std::size_t i = 0; i < std::min(cores, count); ++i)
            m_threads.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
        if (m_threads.empty()) // there may be no more of them
            work();
    }
}

void CoresReader::work()
{
    std::unique_lock lock(m_mutex);
    while (m_begun < m_results.size()) {
        Result& result = m_results[m_begun];
        const std::size_t number = m_begun++;
        lock.unlock();
        WarningCollector collector;
        std::exception_ptr failure;
        try {
            audit_trace(m_job_at(number), collector);
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        result = {true, collector.warnings(), failure};
        m_is_there.notify_all();
    }
}

void CoresReader::audit_next_trace(Report& report)
{
    Result result;
    {
        std::unique_lock lock(m_mutex);
        Result& next = m_results[m_asked_for++];
        m_is_there.wait(lock, [&] { return next.is_there; });
        result = std::move(next);
    }
    if (result.failure) {
        stop(); // what the jobs are made of ends with whoever asks
        std::rethrow_exception(result.failure);
    }
    repeat(result.warnings, report);
}

/// What has begun is waited for.
void CoresReader::stop()
{
    {
        const std::lock_guard lock(m_mutex);
        m_begun = m_results.size();
    }
    m_threads.clear();
}

} // namespace hdtrace::merger
