// validate.h - checks files against the schemas of hdtrace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hdtrace {

/// What is wrong with a file.
struct Problem {
    enum class Kind {
        schema,    ///< it is not as its schema says
        syntax,    ///< it is no XML that can be read; what follows was not checked
        cut_off,   ///< a trace that has no end
        no_schema, ///< there is none for files with this suffix, or without a version
    };

    Kind kind = Kind::schema;
    std::string file;
    std::int64_t line = 0;   ///< 0 is unknown
    std::int64_t column = 0; ///< likewise
    std::string text;
};
/// "file:line:column: text"
std::string to_string(const Problem& problem);

/// How much of a file has to be looked at.
enum class Validate {
    all,
    root, ///< of a trace, since TrcReader::has_only_plain_lines() was true at its end
};

/// What is wrong with a trace (.trc) or a project (.proj); nothing if all is well.
/// After many problems the rest is left out, and so is what follows where the structure of a project is
/// wrong. The schema is chosen by the file's suffix. A trace that was cut off is not valid. Reads in bounded
/// memory, and in time that grows with the file's size. Throws OpenError. May be called by any thread.
std::vector<Problem> validate(const std::string& path, Validate what = Validate::all);

} // namespace hdtrace
