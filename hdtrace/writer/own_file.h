// Files that are this user's only. In a directory where others may write, anything may have the name of a
// trace: a link to some other file, another user's file, a FIFO that nobody reads.
#pragma once

#include <fcntl.h>

namespace hdtrace {

/// Whether something has this name that must not be written to or removed: all but a regular file of this
/// user's that has no other name. Links are not followed.
bool is_taken(const char* path);

/// Removes such a file, if it is there. False if the name is taken.
bool remove_own_file(const char* path);

/// Opens such a file for writing, as it is, or a new one that nobody else may read. Never waits. Returns -1
/// with errno, EEXIST if the name is taken.
int open_own_file(const char* path);

/// For a file that is there.
constexpr int open_to_write = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;

} // namespace hdtrace
