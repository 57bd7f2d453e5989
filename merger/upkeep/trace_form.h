// Compresses the traces of a project after the run, and the other way round.
#pragma once

#include "hdtrace/writer/trace_settings.h"
#include "merger/upkeep/new_files.h"

#include <cstdint>
#include <string>

namespace hdtrace::merger {

/// In bytes.
struct FormSizes {
    std::int64_t before = 0;
    std::int64_t after = 0;
};

/// Gives a trace, in all its segments, another form with the same text. @p trace is its path as the project
/// tells it. The files are there until the new ones are whole, were read again and are safe. Nothing is done
/// where the trace has the form. A compact trace stays compact: zstd compresses its records, gzip does
/// nothing. @p progress is told the bytes of text, of a file that stays compact its own. Throws OpenError,
/// FileError, and UpkeepError if a file is damaged, others write or change it, or its place is taken.
FormSizes change_form(const std::string& trace, Compression form, const ByteProgress& progress);

} // namespace hdtrace::merger
