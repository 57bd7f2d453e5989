// rename_to_new.h - a name for a file or directory that no other one has.
#pragma once

namespace hdtrace::tools {

/// As rename(), but an error, EEXIST, if @p to is there.
int rename_to_new(const char* from, const char* to);

} // namespace hdtrace::tools
