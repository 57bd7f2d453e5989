// call_site_list.h - reads the section of a .proj that tells where the program calls MPI.
#pragma once

#include "hdtrace/format/proj_reader.h"
#include "hdtrace/format/xml_reader.h"

namespace hdtrace::detail {

/// The current element is the list.
void read_call_sites(XmlReader& xml, Project& project);

} // namespace hdtrace::detail
