#include "hdtrace/writer/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <initializer_list>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hdtrace {

namespace {

int move_up(int descriptor)
{
    // The limit on descriptors may be low. Standard input, output and error are never ours.
    for (const int lowest : {400, 3}) {
        const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, lowest);
        if (moved >= 0) {
            ::close(descriptor);
            return moved;
        }
    }
    return descriptor;
}

} // namespace

int OutputFile::open(const char* path, const char* trailer)
{
    m_trailer = trailer;
    const int descriptor = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
    if (descriptor < 0)
        return errno;
    struct stat status;
    if (fstat(descriptor, &status) != 0) {
        const int error = errno;
        ::close(descriptor);
        return error;
    }
    m_descriptor = move_up(descriptor);
    m_process = getpid();
    m_device = status.st_dev;
    m_inode = status.st_ino;
    m_size = 0;
    return 0;
}

// Programs that become daemons close every descriptor and open others under the same numbers.
bool OutputFile::is_still_ours() const
{
    struct stat status;
    return getpid() == m_process && fstat(m_descriptor, &status) == 0 && status.st_dev == m_device &&
           status.st_ino == m_inode;
}

int OutputFile::write(const char* data, size_t size, const Undisturbed& undisturbed)
{
    if (!is_open() || !is_still_ours())
        return EBADF;
    const int error = write_at(data, size, m_size, undisturbed);
    if (error == 0)
        m_size += static_cast<off_t>(size);
    else if (ftruncate(m_descriptor, m_size) != 0)
        return error; // a cut-off last line stays; readers know it
    write_trailer(undisturbed);
    return error;
}

int OutputFile::write_at(const char* data, size_t size, off_t offset, const Undisturbed& undisturbed) const
{
    for (size_t done = 0; done < size;) {
        const ssize_t written = pwrite(m_descriptor, data + done, size - done, offset + static_cast<off_t>(done));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            const int error = written < 0 ? errno : ENOSPC;
            if (error == EFBIG)
                undisturbed.discard_file_size_signal();
            return error;
        }
        done += static_cast<size_t>(written);
    }
    return 0;
}

// The next write() goes over it. So the file is whole at every moment, also if the process is killed.
void OutputFile::write_trailer(const Undisturbed& undisturbed)
{
    m_trailer_error = write_at(m_trailer, strlen(m_trailer), m_size, undisturbed);
}

int OutputFile::close()
{
    if (!is_open())
        return 0;
    const int error = !is_still_ours() ? EBADF : ::close(m_descriptor) != 0 ? errno : m_trailer_error;
    m_descriptor = -1;
    return error;
}

} // namespace hdtrace
