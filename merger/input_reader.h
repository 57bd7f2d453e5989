// Who reads the files of the processes.
#pragma once

#include "merger/process_info.h"
#include "merger/trace_audit.h"
#include "merger/warning_collector.h"

#include <cstddef>
#include <functional>
#include <future>
#include <string_view>
#include <thread>
#include <vector>

namespace hdtrace::merger {

/// Is told before which files will be asked for. Reads a description when it is asked for it, and traces
/// before that, on all cores; a class that inherits from it may do so elsewhere.
class InputReader {
  public:
    /// Called by several threads at a time.
    using JobAt = std::function<TraceJob(std::size_t)>;

    InputReader() = default;
    virtual ~InputReader() = default;
    InputReader(const InputReader&) = delete;
    InputReader& operator=(const InputReader&) = delete;

    /// read_info() will be called for these paths, in this order.
    virtual void expect_infos(const std::vector<std::string_view>&) {}
    virtual void read_info(std::string_view path, ProcessInfo& info, Report& report)
    {
        merger::read_info(path, info, report);
    }
    /// audit_next_trace() will be called so often, for these jobs in their order.
    virtual void expect_traces(std::size_t count, JobAt job_at);
    /// Throws what looking at the trace threw, such as std::bad_alloc; no other one is looked at then.
    virtual void audit_next_trace(Report& report);

  private:
    std::vector<std::promise<std::vector<KeptWarning>>> m_audited;
    std::size_t m_next = 0;
    std::jthread m_auditor; ///< ends before what it uses
};

} // namespace hdtrace::merger
