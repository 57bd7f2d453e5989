// Opens a run as a person has it: a project, or traces that were not merged yet.
#pragma once

#include "hdtrace/format/proj_reader.h"
#include "merger/report.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace hdtrace::merger {

/// The paths lead to no project, and not to the traces of one run either. what() says why, for each of them.
class MergeError : public std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

/// Reads one .proj file, or else merges .info and .trc files, directories, and names of programs without
/// extension, as project-merger does, but in memory: no file is changed. Of a directory it reads the .proj
/// file, if there is one and it was made of what else is there: that is older, or has the same contents.
/// Project::path of what was merged is where project-merger would write it. Warnings go to @p report; errors
/// are thrown: OpenError, ReadError, MergeError.
Project open_project(const std::vector<std::string>& paths, Report& report);

/// A project as XML, and where it is or would be.
struct ProjectText {
    std::string path;
    std::string text;
};

/// The XML that open_project() reads. Throws as it does; but whether the text is a project is not looked at.
ProjectText project_text(const std::vector<std::string>& paths, Report& report);

/// The .info files of each of the runs that have left traces in a folder, as far as they are there now.
std::vector<std::vector<std::string>> runs_in(const std::string& folder);

} // namespace hdtrace::merger
