// run_reader.h - reads what a project tells of the run.
#pragma once

#include "hdtrace/format/run.h"
#include "hdtrace/format/xml_reader.h"

namespace hdtrace::detail {

/// From `<Run>`, which is @p element, to its end. Throws ReadError.
Run read_run(XmlReader& xml, const Element& element);

} // namespace hdtrace::detail
