// Makes a project of traces that have just been written, and puts all of its files in their place.
#pragma once

#include <string>

#include "merger/export/output_directory.h"
#include "merger/report.h"

namespace hdtrace::importer {

/// What the names of the traces of a project begin with.
std::string file_base_of(const std::string& project);

/// Throws ImportError if the project or a trace that would be mixed up with its own is there. With @p
/// overwrite only what will not be replaced is one.
void check_place(const std::string& project, bool overwrite);

/// Writes the project beside the traces in @p directory. Errors go to @p report.
void write_project(const exporter::OutputDirectory& directory, const std::string& project,
                   merger::Report& report);

/// Moves all files of @p directory to where the project is to be, itself last. Where one cannot be moved none
/// is left there that was not there before. Throws tools::FileError, and ImportError as check_place().
void move_to_place(const exporter::OutputDirectory& directory, const std::string& project, bool overwrite);

} // namespace hdtrace::importer
