// clock_list.h - reads the section of a .proj that tells how the clocks of its hosts differ.
#pragma once

#include "hdtrace/format/proj_reader.h"
#include "hdtrace/format/xml_reader.h"

namespace hdtrace::detail {

/// The current element is the list.
void read_clocks(XmlReader& xml, Project& project);

/// Sets right what the run tells of times.
void correct_run(Project& project);

} // namespace hdtrace::detail
