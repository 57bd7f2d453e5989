// The names of trace files: <base>_<label>_..._<label>.trc and .info (docs/format.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hdtrace::merger {

struct TraceName {
    std::string directory; ///< with its '/' at the end; empty for the current directory
    std::string base;
    std::vector<std::string> labels;

    /// The path of a file of this trace; @p extension begins with '.'.
    std::string path(std::string_view extension) const;
    bool operator==(const TraceName&) const = default;
};

/// The levels of MPI programs.
extern const std::vector<std::string> mpi_levels;

/// Takes the last @p label_count parts of the name for labels: in older traces a base may hold '_' too.
/// Nothing if the name has too few parts.
std::optional<TraceName> split_trace_name(std::string_view path, std::size_t label_count);

/// A label as a number that is not negative.
std::optional<std::int64_t> label_number(std::string_view label);

/// The name of a program as it stands in file names.
std::string file_label(std::string_view name);

/// Everything up to and with the last '/'.
std::string_view directory_of(std::string_view path);
/// The same without links, dots and slash: directories that are the same compare equal, however they are
/// spelled.
std::string canonical_directory(std::string_view path);

} // namespace hdtrace::merger
