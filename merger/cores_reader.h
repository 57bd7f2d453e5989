// Reads traces on all cores of this machine.
#pragma once

#include "merger/input_reader.h"
#include "merger/warning_collector.h"

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace hdtrace::merger {

/// Traces are looked at before they are asked for, each in one of as many threads as there are cores. What is
/// found is reported by the thread that asks, and in the order in which it does.
class CoresReader : public InputReader {
  public:
    CoresReader() = default;
    ~CoresReader() override { stop(); }
    CoresReader(const CoresReader&) = delete;
    CoresReader& operator=(const CoresReader&) = delete;

    /// @p job_at is called by several threads at a time.
    void expect_traces(std::size_t count, JobAt job_at) override;
    /// Throws what looking at the trace threw, such as std::bad_alloc.
    void audit_next_trace(Report& report) override;

  private:
    struct Result {
        bool is_there = false;
        std::vector<KeptWarning> warnings;
        std::exception_ptr failure;
    };

    void work();
    void stop();

    JobAt m_job_at;
    std::mutex m_mutex; ///< of all that follows
    std::condition_variable m_is_there;
    std::vector<Result> m_results;
    std::size_t m_begun = 0;
    std::size_t m_asked_for = 0;
    std::vector<std::jthread> m_threads;
};

} // namespace hdtrace::merger
