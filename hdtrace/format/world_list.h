// world_list.h - reads the section of a .proj that tells which worlds its processes are of.
#pragma once

#include "hdtrace/format/proj_reader.h"
#include "hdtrace/format/xml_reader.h"

namespace hdtrace::detail {

/// The current element is the list.
void read_worlds(XmlReader& xml, Project& project);

} // namespace hdtrace::detail
