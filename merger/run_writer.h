// Writes what is known of the run into the project.
#pragma once

#include "merger/run_facts.h"
#include "merger/xml_writer.h"

namespace hdtrace::merger {

/// Nothing where nothing is known.
void write_run(const MergedRun& run, XmlWriter& xml);

} // namespace hdtrace::merger
