#include "merger/input_reader.h"

#include "hdtrace/format/for_each_position.h"

#include <exception>
#include <system_error>
#include <utility>

namespace hdtrace::merger {

void InputReader::expect_traces(std::size_t count, JobAt job_at)
{
    m_auditor = {};
    m_audited = std::vector<std::promise<std::vector<KeptWarning>>>(count);
    m_next = 0;
    const auto audit_all = [this, job_at = std::move(job_at)](const std::stop_token& stop) {
        detail::for_each_position(m_audited.size(), [&](std::size_t i) {
            if (stop.stop_requested())
                return;
            try {
                WarningCollector collector;
                audit_trace(job_at(i), collector);
                m_audited[i].set_value(collector.warnings());
            } catch (...) {
                m_audited[i].set_exception(std::current_exception());
            }
        });
    };
    try {
        m_auditor = std::jthread(audit_all);
    } catch (const std::system_error&) { // there may be no more threads
        audit_all({});
    }
}

void InputReader::audit_next_trace(Report& report)
{
    try {
        repeat(m_audited[m_next++].get_future().get(), report);
    } catch (...) {
        m_auditor = {}; // what the jobs are made of ends with whoever asks
        throw;
    }
}

} // namespace hdtrace::merger
