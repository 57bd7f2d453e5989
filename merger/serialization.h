// What processes send each other when several share the reading: records as bytes.
#pragma once

#include "merger/process_info.h"
#include "merger/report.h"
#include "merger/trace_audit.h"

#include <string>
#include <string_view>
#include <vector>

namespace hdtrace::merger {

std::string encode(const std::vector<std::string>& texts);
std::vector<std::string> decode_texts(std::string_view bytes);

std::string encode(const TraceJob& job);
TraceJob decode_trace_job(std::string_view bytes);

/// What read_info() finds in the first file of a process: warnings, and the records or why there are none.
std::string read_info_encoded(const std::string& path);
/// Does to @p info and @p report what read_info() does, and throws what it throws.
void apply_read_info(std::string_view bytes, std::string_view path, ProcessInfo& info, Report& report);

std::string audit_trace_encoded(const TraceJob& job);
void apply_audit_trace(std::string_view bytes, Report& report);

} // namespace hdtrace::merger
