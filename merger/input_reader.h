// Who reads the files of the processes.
#pragma once

#include "merger/process_info.h"
#include "merger/trace_audit.h"

#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace hdtrace::merger {

/// Reads a file when it is asked for. A class that inherits from it may read ahead: it is told before which
/// files will be asked for.
class InputReader {
  public:
    using JobAt = std::function<TraceJob(std::size_t)>;

    virtual ~InputReader() = default;
    /// read_info() will be called for these paths, in this order.
    virtual void expect_infos(const std::vector<std::string_view>&) {}
    virtual void read_info(std::string_view path, ProcessInfo& info, Report& report)
    {
        merger::read_info(path, info, report);
    }
    /// audit_next_trace() will be called so often, for these jobs in their order.
    virtual void expect_traces(std::size_t, JobAt job_at)
    {
        m_job_at = std::move(job_at);
        m_next_job = 0;
    }
    virtual void audit_next_trace(Report& report) { audit_trace(m_job_at(m_next_job++), report); }

  private:
    JobAt m_job_at;
    std::size_t m_next_job = 0;
};

} // namespace hdtrace::merger
