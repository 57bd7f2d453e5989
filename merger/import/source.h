// The formats that traces can be imported from. Each has a folder, with a row that says all that others know
// of it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "merger/export/account.h"
#include "merger/import/traces.h"

namespace hdtrace::importer {

/// The traces cannot be imported like this. what() names the file, and where in it something is wrong.
class ImportError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
    /// Something is wrong at this byte of the file.
    ImportError(const std::string& file, std::uint64_t offset, const std::string& what)
        : std::runtime_error(file + ": at byte " + std::to_string(offset) + ": " + what)
    {
    }
};

/// What is to be imported, and where it goes.
struct Import {
    std::vector<std::string> files;                          ///< as they were named: not empty
    std::map<std::string, std::string, std::less<>> options; ///< what was given for the format's own ones
    Traces& traces;
    /// Each call that is not inside another one: exact, approximated or dropped.
    exporter::Account& account;
    /// What is being done, how much of it, and of how much; 0 where that is not known.
    std::function<void(std::string_view doing, std::size_t done, std::size_t all)> progress;

    /// What was given for one of the format's own options; empty if nothing was.
    std::string option(std::string_view name) const
    {
        const auto found = options.find(name);
        return found == options.end() ? std::string() : found->second;
    }
};

/// An option that only one format has. All are literals.
struct SourceOption {
    const char* name;  ///< without "--"
    const char* value; ///< what the help calls it
    const char* help;
};

struct Source {
    std::string_view name;
    std::string_view description; ///< of its files, for --help
    /// Whether a file or directory is one of these. @p beginning: its first bytes, at most 4096; of a
    /// directory empty.
    bool (*recognises)(const std::string& path, std::string_view beginning);
    /// Writes the traces of all processes. Throws ImportError, FileError, and UsageError if it cannot
    /// understand an option of its own. What it has written is removed then.
    void (*import)(const Import& import);
    std::vector<SourceOption> options;
};

/// In the order of their names.
const std::vector<Source>& sources();

/// Null if there is no such format.
const Source* find_source(std::string_view name);

/// The format of all these files. Throws ImportError if one is none that is known, or they are of several.
const Source& source_of(const std::vector<std::string>& files);

} // namespace hdtrace::importer
