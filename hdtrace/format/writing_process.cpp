#include "hdtrace/format/writing_process.h"

#include <fcntl.h>
#include <unistd.h>

#include "hdtrace/format/node_file.h"

namespace hdtrace::detail {

// Only asked for: a process that begins must not meet a lock of ours.
bool is_being_written(const std::string& info)
{
    const int descriptor = open(info.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return lives_in_node_file(info);
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    const bool is_answered = fcntl(descriptor, F_GETLK, &lock) == 0;
    close(descriptor);
    return is_answered && lock.l_type != F_UNLCK;
}

} // namespace hdtrace::detail
