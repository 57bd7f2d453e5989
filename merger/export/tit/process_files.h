// The files of a replay, one for each process.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "merger/export/output_directory.h"
#include "merger/export/tit/process_replay.h"
#include "merger/export/tit/run_summary.h"

namespace hdtrace::exporter {

/// Of each process those of its threads.
using TracesByRank = std::vector<std::vector<TraceFile>>;

std::string name_of_file(std::size_t rank);

/// Writes them, those of several processes at a time. @p replay: what is known before the traces were read.
/// Throws OpenError, ReadError, tools::FileError.
std::unique_ptr<RunSummary> write_process_files(Replay replay, const TracesByRank& traces,
                                                const OutputDirectory& directory);

} // namespace hdtrace::exporter
