// validate.h - checks files against the schemas of hdtrace.
#pragma once

#include <string>
#include <vector>

namespace hdtrace {

/// What is wrong with a trace (.trc) or a project (.proj), as "file:line: reason"; nothing if all is well.
/// After many problems the rest is left out, and so is what follows where the structure of a project is
/// wrong. The schema is chosen by the file's suffix. A trace that was cut off is not valid. Reads in bounded
/// memory, and in time that grows with the file's size. Throws OpenError. May be called by any thread.
std::vector<std::string> validate(const std::string& path);

} // namespace hdtrace
