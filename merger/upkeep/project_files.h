// Which files a project consists of.
#pragma once

#include "hdtrace/format/proj_reader.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hdtrace::merger {

inline constexpr std::string_view project_extension = ".proj";

/// A file by the parts of its name: `run/`, `app`, `_node01_0_0`, `.trc.zst`.
struct NamedFile {
    std::string directory; ///< with its '/' at the end; empty for the current one
    std::string base;
    std::string labels; ///< empty for the project itself
    std::string ending;

    std::string path() const { return stem() + ending; }
    std::string stem() const { return prefix() + labels; }
    /// What the names of all files of some processes begin with.
    std::string prefix() const { return directory + base; }
    bool is_project() const { return labels.empty(); }
};

struct ProjectFiles {
    std::string directory; ///< of the project itself, as in NamedFile
    /// Regular files and links that are there: of each thread in the order of the project its trace in all
    /// forms and segments, with what was kept of it when it was closed, and its description. The project
    /// itself comes last: as long as it is there, it leads to the others.
    std::vector<NamedFile> files;
    /// Of all traces, whether they are there or not.
    std::vector<std::string> prefixes;
    /// Which of the files another project in its directory leads to as well, and which one.
    std::map<std::string, std::string> shared;

    /// Other directories than its own in which files are.
    std::vector<std::string> elsewhere() const;
};

/// Finds them by their names only.
ProjectFiles files_of(const Project& project);

} // namespace hdtrace::merger
