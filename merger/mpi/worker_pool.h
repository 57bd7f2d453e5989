// The processes of an MPI program that do each other's jobs.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace hdtrace::merger {

/// Rank 0 hands jobs out and takes their results in the order of the jobs; it does its share itself. Jobs and
/// results are bytes; memory is bounded by what some batches of jobs result in.
class WorkerPool {
  public:
    using JobAt = std::function<std::string(std::size_t)>;
    /// Does a job of a task, on any rank.
    using Perform = std::string (*)(int task, const std::string& job);

    explicit WorkerPool(Perform perform);

    int rank() const { return m_rank; }

    /// For all ranks but 0: does jobs until it is dismissed.
    void serve();
    /// For rank 0: nothing more is to be done.
    void dismiss();

    /// For rank 0: begins with @p count jobs of a task, which is a number from 0; they are handed out
    /// @p batch_size at a time. All results of what was begun before have been taken.
    void begin(int task, std::size_t count, std::size_t batch_size, JobAt job_at);
    /// For rank 0: the result of the next job.
    std::string next();

  private:
    /// A message that may be under way.
    struct Sent {
        std::string bytes;
        MPI_Request request;
    };

    std::size_t batch_count() const { return (m_count + m_batch_size - 1) / m_batch_size; }
    int owner(std::size_t batch) const { return static_cast<int>(batch % static_cast<std::size_t>(m_size)); }
    std::vector<std::string> jobs(std::size_t batch) const;
    void hand_out();
    void finish_batch(std::size_t batch);
    std::string receive_result(int rank);

    Perform m_perform;
    int m_rank = 0;
    int m_size = 1;
    int m_task = 0;
    std::size_t m_count = 0;
    std::size_t m_batch_size = 1;
    JobAt m_job_at;
    std::size_t m_handed_out = 0; ///< batches
    std::size_t m_finished = 0;   ///< batches
    std::deque<std::string> m_results;
    std::vector<std::deque<Sent>> m_sent; ///< to each rank
};

} // namespace hdtrace::merger
