// Compresses compact traces after the run.
#pragma once

#include "merger/upkeep/new_files.h"
#include "merger/upkeep/temporary_file.h"

#include <string>

namespace hdtrace::merger {

/// Writes the compact trace @p from to @p to, and compresses the records in it (docs/format.md); all else
/// stays as it is. False if none of them was still to be compressed. @p progress is told the bytes of the
/// file. Throws OpenError, FileError, and std::runtime_error where zstd is missing.
bool compress_records(const std::string& from, TemporaryFile& to, const ByteProgress& progress);

} // namespace hdtrace::merger
