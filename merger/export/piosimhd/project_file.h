// The project, in the forms of both generations of readers.
#pragma once

#include <string>

#include "merger/export/piosimhd/contents.h"
#include "merger/export/piosimhd/datatypes.h"
#include "merger/export/piosimhd/statistics.h"

namespace hdtrace::exporter::piosimhd {

/// Writes to @p file, which is not closed. Throws std::system_error.
void write_project(const Contents& contents, const Statistics& statistics, const ObjectTable& objects,
                   int file, TypeLosses& losses);

} // namespace hdtrace::exporter::piosimhd
