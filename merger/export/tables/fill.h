// Fills the tables of a project.
#pragma once

#include "hdtrace/format/proj_reader.h"
#include "merger/export/account.h"
#include "merger/export/tables/tables.h"

namespace hdtrace::exporter::tables {

/// Adds all rows: those of objects before what names them, and those of calls when they end. Memory grows
/// with the objects of the project and with what is under way. Throws what the sink throws, OpenError,
/// ReadError.
void fill(const Project& project, RowSink& sink, Account& account);

} // namespace hdtrace::exporter::tables
