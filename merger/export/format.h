// The formats that a project can be converted to: one row of a table for each.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "hdtrace/format/proj_reader.h"
#include "merger/export/account.h"

namespace hdtrace::exporter {

struct Options {
    std::string output;
    bool overwrite = false; ///< whether an output that is there is replaced
    std::string file;       ///< ioplot: the one file that is wanted; empty if the project has no other
    double speed = 1e9; ///< tit: what the traced processor computes, in floating-point operations per second
};

/// The project cannot be converted like this; what() tells what to do.
class ConvertError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Format {
    std::string_view name;
    std::string_view description; ///< of its output, for --help
    /// Writes the output, all of it or nothing. Throws ConvertError, OpenError, ReadError, FileError.
    void (*convert)(const Project& project, const Options& options, Account& account);
};

std::span<const Format> formats();

/// Throws ConvertError where the output may not be written.
void check_output(const Project& project, const Options& options);

/// Null if there is no such format.
const Format* find_format(std::string_view name);

// One for each format; only the table names them.
void convert_to_ioplot(const Project& project, const Options& options, Account& account);
void convert_to_tit(const Project& project, const Options& options, Account& account);
void convert_to_otf2(const Project& project, const Options& options, Account& account);

} // namespace hdtrace::exporter
