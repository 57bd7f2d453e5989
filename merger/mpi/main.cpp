// project-merger-mpi: project-merger whose processes share the reading.

#include "hdtrace/tools/run_tool.h"
#include "merger/mpi/worker_pool.h"
#include "merger/serialization.h"
#include "merger/tool.h"

#include <cstdio>
#include <exception>

using namespace hdtrace;
using namespace hdtrace::merger;

namespace {

enum Task { read_info_task, audit_trace_task };

std::string perform(int task, const std::string& job)
{
    return task == read_info_task ? read_info_encoded(job) : audit_trace_encoded(decode_trace_job(job));
}

/// Has files read by the pool before they are asked for.
class PoolReader : public InputReader {
  public:
    explicit PoolReader(WorkerPool& pool) : m_pool(pool) {}

    void expect_infos(const std::vector<std::string_view>& paths) override
    {
        m_pool.begin(read_info_task, paths.size(), infos_at_once,
                     [paths](std::size_t i) { return std::string(paths[i]); });
    }

    void read_info(std::string_view path, ProcessInfo& info, Report& report) override
    {
        const std::string result = m_pool.next();
        if (info.paths.empty())
            apply_read_info(result, path, info, report);
        else // of another thread, as older tracers wrote it: it is compared with what is there already
            InputReader::read_info(path, info, report);
    }

    void expect_traces(std::size_t count, JobAt job_at) override
    {
        m_pool.begin(audit_trace_task, count, traces_at_once,
                     [job_at = std::move(job_at)](std::size_t i) { return encode(job_at(i)); });
    }

    void audit_next_trace(Report& report) override { apply_audit_trace(m_pool.next(), report); }

  private:
    /// Infos are small, traces may be large.
    static constexpr std::size_t infos_at_once = 64;
    static constexpr std::size_t traces_at_once = 1;

    WorkerPool& m_pool;
};

/// The other ranks wait for the results: they cannot go on without this one.
void serve(WorkerPool& pool)
{
    try {
        pool.serve();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "project-merger: error: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, tools::exit_error);
    }
}

} // namespace

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    WorkerPool pool(perform);
    int exit_code = tools::exit_fine;
    if (pool.rank() == 0) {
        PoolReader reader(pool);
        exit_code = run_merger(argc, argv, reader);
        pool.dismiss();
    } else
        serve(pool);
    MPI_Finalize();
    return exit_code;
}
