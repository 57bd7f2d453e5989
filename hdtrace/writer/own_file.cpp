#include "hdtrace/writer/own_file.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hdtrace {

namespace {

bool is_own(const struct stat& status)
{
    return S_ISREG(status.st_mode) && status.st_uid == geteuid() && status.st_nlink == 1;
}

int name_is_taken()
{
    errno = EEXIST;
    return -1;
}

// It is looked at twice: devices may do something when they are opened, and somebody may put something else
// there before it is.
int open_existing(const char* path)
{
    if (is_taken(path))
        return name_is_taken();
    const int descriptor = ::open(path, open_to_write);
    struct stat status;
    if (descriptor < 0 || (fstat(descriptor, &status) == 0 && is_own(status)))
        return descriptor;
    ::close(descriptor);
    return name_is_taken();
}

} // namespace

bool is_taken(const char* path)
{
    struct stat status;
    return lstat(path, &status) == 0 && !is_own(status);
}

bool remove_own_file(const char* path)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return true;
    if (!is_own(status))
        return false;
    unlink(path);
    return true;
}

// A new file is ours, whatever owner the file system says that it has.
int open_own_file(const char* path)
{
    const int descriptor = ::open(path, open_to_write | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR);
    return descriptor >= 0 || errno != EEXIST ? descriptor : open_existing(path);
}

} // namespace hdtrace
