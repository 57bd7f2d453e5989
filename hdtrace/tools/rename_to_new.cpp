#include "hdtrace/tools/rename_to_new.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hdtrace::tools {

int rename_to_new(const char* from, const char* to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    // Some file systems, as those on networks, do not know the flag.
    if (link(from, to) == 0)
        return unlink(from);
    if (errno == EEXIST)
        return -1;
    // No directory has links, and some file systems have none: somebody else may take the name in between.
    struct stat there;
    if (lstat(to, &there) != 0 && errno == ENOENT)
        return std::rename(from, to);
    errno = EEXIST;
    return -1;
}

} // namespace hdtrace::tools
