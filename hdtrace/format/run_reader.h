// run_reader.h - reads what a project tells of the run.
#pragma once

#include "hdtrace/format/run.h"
#include "hdtrace/format/xml_reader.h"

namespace hdtrace::detail {

/// From `<Run>` to its end. Throws ReadError.
Run read_run(XmlReader& xml);

} // namespace hdtrace::detail
