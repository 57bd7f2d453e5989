// Moves, copies and removes projects with all that belongs to them.
#pragma once

#include "hdtrace/format/proj_reader.h"
#include "merger/upkeep/new_files.h"
#include "merger/upkeep/project_files.h"
#include "merger/upkeep/upkeep_error.h"

#include <string>

namespace hdtrace::merger {

/// Where a project goes.
struct Destination {
    std::string folder;  ///< with its '/' at the end; empty for the current one
    bool is_new = false; ///< the folder has to be made
    std::string name;    ///< of the project's file, without its extension; empty if it stays as it is
};

/// What a person means: a .proj is a new name; a directory takes the project, or the directory @p source
/// under its name; what is not there becomes a directory.
Destination destination_of(const std::string& source, const std::string& destination);

/// Makes the project at its destination, whole or not at all. All traces are beside it there, also those that
/// were not; if it gets another name, theirs begin with it. Throws UpkeepError, FileError.
void copy_project(const Project& project, const ProjectFiles& files, const Destination& to,
                  const ByteProgress& progress);

/// The same, and then removes the files. Where a file system can hold a file under two names no bytes are
/// copied. Files that another project leads to, too, are refused.
void move_project(const Project& project, const ProjectFiles& files, const Destination& to,
                  const ByteProgress& progress);

/// Removes the files, but not those that another project leads to, too; the project last. Directories that
/// are empty then are removed, but not the current one. Throws FileError.
void remove_files(const ProjectFiles& files);

} // namespace hdtrace::merger
