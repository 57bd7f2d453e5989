// The formats that a project can be converted to. Each has a folder, with a row that says all that others
// know of it.
#pragma once

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hdtrace/format/proj_reader.h"
#include "merger/export/account.h"

namespace hdtrace::exporter {

struct Options {
    std::string output;
    bool overwrite = false; ///< whether an output that is there is replaced
    std::map<std::string, std::string, std::less<>>
        of_format; ///< what was given for the format's own options

    /// What was given for one of these; empty if nothing was.
    std::string text(std::string_view option) const;
};

/// The project cannot be converted like this; what() tells what to do.
class ConvertError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// An option that only one format has. All are literals.
struct FormatOption {
    const char* name;  ///< without "--"
    const char* value; ///< what the help calls it
    const char* help;
};

struct Format {
    std::string_view name;
    std::string_view description; ///< of its output, for --help
    /// Writes the output, all of it or nothing. Throws UsageError if it cannot understand an option of its
    /// own, else ConvertError, OpenError, ReadError, FileError.
    void (*convert)(const Project& project, const Options& options, Account& account);
    std::vector<FormatOption> options;
};

/// In the order of their names.
const std::vector<Format>& formats();

/// Throws ConvertError if the project has other processes than those that it describes.
void check_processes(const Project& project);

/// Throws ConvertError where the output may not be written.
void check_output(const Project& project, const Options& options);

/// Null if there is no such format.
const Format* find_format(std::string_view name);

} // namespace hdtrace::exporter
