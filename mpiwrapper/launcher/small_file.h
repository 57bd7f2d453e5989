// Files of /proc and the beginnings of others, read without allocation.
#pragma once

#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

namespace hdtrace::mpi {

/// The beginning of a file and a NUL behind it. Returns its length: 0 if it cannot be read, at most Size - 1.
/// Follows no link and never waits: others may have put something else there.
template <size_t Size> size_t read_begin(const char* path, char (&text)[Size])
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
    const ssize_t result = descriptor >= 0 ? read(descriptor, text, Size - 1) : 0;
    const size_t length = result > 0 ? static_cast<size_t>(result) : 0;
    text[length] = '\0';
    if (descriptor >= 0)
        close(descriptor);
    return length;
}

} // namespace hdtrace::mpi
