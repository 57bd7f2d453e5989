#include "merger/mpi/worker_pool.h"

#include "merger/serialization.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace hdtrace::merger {

namespace {

/// Messages to rank 0 have this tag, those from it the number of the task.
constexpr int result_tag = 0;
constexpr int dismiss_tag = 1000;
/// How many batches a rank may have in hand: a slow one holds up the others only after so many.
constexpr std::size_t batches_ahead = 8;
/// MPI counts in int.
constexpr std::size_t largest_message = std::size_t{1} << 30;

void send_in_parts(const std::string& bytes, int rank)
{
    const std::uint64_t size = bytes.size();
    MPI_Send(&size, 1, MPI_UINT64_T, rank, result_tag, MPI_COMM_WORLD);
    for (std::size_t at = 0; at < bytes.size(); at += largest_message)
        MPI_Send(bytes.data() + at, static_cast<int>(std::min(largest_message, bytes.size() - at)), MPI_BYTE,
                 rank, result_tag, MPI_COMM_WORLD);
}

std::string receive_in_parts(int rank)
{
    std::uint64_t size = 0;
    MPI_Recv(&size, 1, MPI_UINT64_T, rank, result_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::string bytes(size, '\0');
    for (std::size_t at = 0; at < size; at += largest_message)
        MPI_Recv(bytes.data() + at, static_cast<int>(std::min(largest_message, bytes.size() - at)), MPI_BYTE,
                 rank, result_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return bytes;
}

} // namespace

WorkerPool::WorkerPool(Perform perform) : m_perform(perform)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &m_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &m_size);
    m_sent.resize(static_cast<std::size_t>(m_size));
}

void WorkerPool::serve()
{
    while (true) {
        MPI_Status status;
        MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        int size = 0;
        MPI_Get_count(&status, MPI_BYTE, &size);
        std::string message(static_cast<std::size_t>(size), '\0');
        MPI_Recv(message.data(), size, MPI_BYTE, 0, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (status.MPI_TAG == dismiss_tag)
            return;
        std::vector<std::string> texts = decode_texts(message);
        for (std::string& text : texts)
            text = m_perform(status.MPI_TAG, text);
        send_in_parts(encode(texts), 0);
    }
}

void WorkerPool::dismiss()
{
    for (; m_finished < m_handed_out; ++m_finished) {
        if (owner(m_finished) != 0)
            receive_result(owner(m_finished));
    }
    for (int rank = 1; rank < m_size; ++rank)
        MPI_Send(nullptr, 0, MPI_BYTE, rank, dismiss_tag, MPI_COMM_WORLD);
}

void WorkerPool::begin(int task, std::size_t count, std::size_t batch_size, JobAt job_at)
{
    m_task = task;
    m_count = count;
    m_batch_size = batch_size;
    m_job_at = std::move(job_at);
    m_handed_out = m_finished = 0;
    hand_out();
}

std::vector<std::string> WorkerPool::jobs(std::size_t batch) const
{
    std::vector<std::string> jobs;
    const std::size_t end = std::min(m_count, (batch + 1) * m_batch_size);
    for (std::size_t i = batch * m_batch_size; i < end; ++i)
        jobs.push_back(m_job_at(i));
    return jobs;
}

/// Never waits, so that a rank that is about to send a large result cannot wait for us meanwhile.
void WorkerPool::hand_out()
{
    const std::size_t limit = m_finished + batches_ahead * static_cast<std::size_t>(m_size);
    for (; m_handed_out < std::min(limit, batch_count()); ++m_handed_out) {
        const int rank = owner(m_handed_out);
        if (rank == 0)
            continue;
        Sent& sent =
            m_sent[static_cast<std::size_t>(rank)].emplace_back(encode(jobs(m_handed_out)), MPI_REQUEST_NULL);
        MPI_Isend(sent.bytes.data(), static_cast<int>(sent.bytes.size()), MPI_BYTE, rank, m_task,
                  MPI_COMM_WORLD, &sent.request);
    }
}

std::string WorkerPool::receive_result(int rank)
{
    std::string result = receive_in_parts(rank);
    auto& sent = m_sent[static_cast<std::size_t>(rank)];
    MPI_Wait(&sent.front().request, MPI_STATUS_IGNORE);
    sent.pop_front();
    return result;
}

void WorkerPool::finish_batch(std::size_t batch)
{
    std::vector<std::string> results;
    if (owner(batch) == 0) {
        for (const std::string& job : jobs(batch))
            results.push_back(m_perform(m_task, job));
    } else
        results = decode_texts(receive_result(owner(batch)));
    m_results.assign(std::make_move_iterator(results.begin()), std::make_move_iterator(results.end()));
}

std::string WorkerPool::next()
{
    if (m_results.empty()) {
        finish_batch(m_finished++);
        hand_out();
    }
    std::string result = std::move(m_results.front());
    m_results.pop_front();
    return result;
}

} // namespace hdtrace::merger
