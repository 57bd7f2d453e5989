#include "hdtrace/writer/output_file.h"

#include "hdtrace/writer/descriptor.h"
#include "hdtrace/writer/own_file.h"
#include "hdtrace/writer/own_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

namespace hdtrace {

namespace {

// Other threads that write, too, have descriptors for a moment each: where there are few, one comes free
// soon, on a busy machine a little later.
template <typename Open> int open_when_possible(Open open)
{
    constexpr long first_pause = 1'000'000, longest_pause = 256 * first_pause; // nanoseconds
    int descriptor = open();
    for (timespec pause = {0, first_pause};
         descriptor < 0 && errno == EMFILE && pause.tv_nsec <= longest_pause; pause.tv_nsec *= 2) {
        nanosleep(&pause, nullptr);
        descriptor = open();
    }
    return descriptor;
}

// What this process has claimed and not closed: its own locks do not hold it up.
constexpr pthread_mutex_t free_claims_mutex = HDTRACE_MUTEX_INITIALIZER;
pthread_mutex_t claims_mutex = free_claims_mutex;
OutputFile* first_claimed = nullptr;
pthread_once_t claims_are_ready = PTHREAD_ONCE_INIT;

// A child of fork() has claimed nothing, and a thread of its parent may have held the mutex.
void forget_claims_in_children()
{
    pthread_atfork(nullptr, nullptr, [] {
        claims_mutex = free_claims_mutex;
        first_claimed = nullptr;
    });
}

// Locks it for this process if nobody has. Locks of this kind end with the process or when it closes the
// file, also in another place, and children do not get them. Where there are none, nobody can tell.
bool is_locked_by_another_process(int descriptor)
{
    struct flock whole_file = {};
    whole_file.l_type = F_WRLCK;
    whole_file.l_whence = SEEK_SET;
    return fcntl(descriptor, F_SETLK, &whole_file) != 0 && (errno == EAGAIN || errno == EACCES);
}

// Btrfs needs room to shorten a file. Where it has none left, it fills the rest of the last block with zeros
// before it says so; that is what the first step is for. Returns false if the file is as long as before.
bool shorten(int descriptor, off_t size, off_t end)
{
    constexpr off_t block = 4096;
    const off_t whole_blocks = (size + block - 1) / block * block;
    return (whole_blocks >= end || ftruncate(descriptor, whole_blocks) == 0) &&
           ftruncate(descriptor, size) == 0;
}

iovec to_iovec(Text text)
{
    return {const_cast<char*>(text.data), text.size};
}

void skip(iovec* part, size_t bytes)
{
    while (bytes > 0) {
        const size_t skipped = bytes < part->iov_len ? bytes : part->iov_len;
        part->iov_base = static_cast<char*>(part->iov_base) + skipped;
        part->iov_len -= skipped;
        bytes -= skipped;
        ++part;
    }
}

} // namespace

OutputFile::~OutputFile()
{
    give_up_claim();
    own_free(m_path);
}

// Without asking for memory again where a name is not much longer.
bool OutputFile::keep_path(const char* path)
{
    const size_t size = strlen(path) + 1;
    if (size > m_path_room) {
        constexpr size_t more = 16;
        own_free(m_path);
        m_path = static_cast<char*>(own_malloc(size + more));
        m_path_room = m_path != nullptr ? size + more : 0;
    }
    if (m_path != nullptr)
        memcpy(m_path, path, size);
    return m_path != nullptr;
}

int OutputFile::claim(const char* path)
{
    pthread_once(&claims_are_ready, forget_claims_in_children);
    const Lock lock(claims_mutex);
    if (is_claimed_here(path))
        return EBUSY;
    const int error = open_as(Owner::this_process, path, {}, Rest::may_be_lost);
    if (error == 0)
        keep_claim();
    return error;
}

// Without opening it: closing it again would end the lock of the one that has it.
bool OutputFile::is_claimed_here(const char* path)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return false;
    for (const OutputFile* file = first_claimed; file != nullptr; file = file->m_next_claimed) {
        if (file->m_device == status.st_dev && file->m_inode == status.st_ino)
            return true;
    }
    return false;
}

// Those in a node file have no file.
void OutputFile::keep_claim()
{
    if (m_node_file != nullptr)
        return;
    forget_claim(); // of a file that was never closed
    m_is_claimed = true;
    m_next_claimed = first_claimed;
    first_claimed = this;
}

void OutputFile::give_up_claim()
{
    if (!m_is_claimed)
        return;
    const Lock lock(claims_mutex);
    forget_claim();
}

void OutputFile::forget_claim()
{
    m_is_claimed = false;
    for (OutputFile** place = &first_claimed; *place != nullptr; place = &(*place)->m_next_claimed) {
        if (*place == this) {
            *place = m_next_claimed;
            return;
        }
    }
}

int OutputFile::open_as(Owner owner, const char* path, Text trailer, Rest rest)
{
    m_trailer = trailer;
    m_rest = rest;
    m_trailer_error = 0;
    if (!keep_path(path))
        return ENOMEM;
    m_node_file = NodeFile::for_path(path);
    const int error = m_node_file != nullptr ? open_in_node_file(owner) : open_for_itself(owner);
    if (error != 0)
        return error;
    m_is_open = true;
    m_process = getpid();
    m_size = 0;
    m_end = 0;
    return m_node_file != nullptr ? 0 : leave_descriptor();
}

// A file of this name beside it would be one of an earlier run, which readers would take for it.
int OutputFile::open_in_node_file(Owner owner)
{
    if (access(m_path, F_OK) == 0) {
        if (const int error = open_for_itself(owner))
            return error;
        ::close(m_descriptor);
        if (!remove_own_file(m_path))
            return EEXIST;
    }
    return m_node_file->begin(m_path, m_stream);
}

int OutputFile::open_for_itself(Owner owner)
{
    const int descriptor = open_when_possible([&] { return open_own_file(m_path); });
    if (descriptor < 0)
        return errno;
    m_descriptor = move_up(descriptor);
    const bool is_taken = owner == Owner::this_process && is_locked_by_another_process(m_descriptor);
    if (const int error = is_taken ? EBUSY : make_empty()) {
        ::close(m_descriptor);
        return error;
    }
    m_is_kept = !is_scarce(m_descriptor);
    return 0;
}

// What others may read of an earlier trace they may not read of this one.
int OutputFile::make_empty()
{
    struct stat status;
    if (fstat(m_descriptor, &status) != 0 || (status.st_size > 0 && ftruncate(m_descriptor, 0) != 0))
        return errno;
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        fchmod(m_descriptor, status.st_mode & S_IRWXU);
    m_device = status.st_dev;
    m_inode = status.st_ino;
    return 0;
}

int OutputFile::take_descriptor()
{
    if (!m_is_open || getpid() != m_process)
        return EBADF;
    if (!m_is_kept)
        m_descriptor = open_when_possible([&] { return ::open(m_path, open_to_write); });
    if (m_descriptor < 0)
        return errno;
    if (is_still_ours())
        return 0;
    leave_descriptor();
    return EBADF;
}

int OutputFile::leave_descriptor()
{
    return m_is_kept || ::close(m_descriptor) == 0 ? 0 : errno;
}

// Programs that become daemons close every descriptor and open others under the same numbers.
bool OutputFile::is_still_ours() const
{
    struct stat status;
    return fstat(m_descriptor, &status) == 0 && status.st_dev == m_device && status.st_ino == m_inode;
}

int OutputFile::write(Text data, const Undisturbed& undisturbed)
{
    return write(data, {}, m_trailer, undisturbed);
}

int OutputFile::write(Text data, Text rest, Text end, const Undisturbed& undisturbed)
{
    if (m_node_file != nullptr)
        return write_to_node_file(data, rest, end, undisturbed);
    if (const int error = take_descriptor())
        return error;
    const int error = write_here(data, rest, end, undisturbed);
    const int close_error = leave_descriptor();
    return error != 0 ? error : close_error;
}

int OutputFile::write_to_node_file(Text data, Text rest, Text end, const Undisturbed& undisturbed)
{
    if (!m_is_open || getpid() != m_process)
        return EBADF;
    const iovec parts[] = {to_iovec(data), to_iovec(rest), to_iovec(end)};
    const int error = m_node_file->write(m_stream, m_size, parts, undisturbed);
    if (error == 0)
        m_size += static_cast<off_t>(data.size);
    return error;
}

// All in one system call: the file is whole before and after it, also if the process is killed. Data are
// written only if the trailer is sure to fit behind them; its place is never given up, since others may be
// waiting for the room.
int OutputFile::write_here(Text data, Text rest, Text end, const Undisturbed& undisturbed)
{
    iovec parts[] = {to_iovec(data), to_iovec(rest), to_iovec(end)};
    const off_t new_end = m_size + static_cast<off_t>(data.size + rest.size + end.size), old_end = m_end;
    const bool ends_with_trailer = new_end >= m_end && m_end == end_with_trailer();
    if (new_end < m_end) {
        if (!shorten(m_descriptor, new_end, m_end))
            return errno;
        m_end = new_end;
    }
    size_t done = 0;
    const int error = write_parts(parts, parts + 3, done, undisturbed);
    const off_t reached = m_size + static_cast<off_t>(done);
    if (reached > m_end)
        m_end = reached;
    const bool may_lack_rest = m_rest == Rest::may_be_lost || rest.size == 0;
    const bool has_data = error == 0 || (may_lack_rest && done >= data.size &&
                                         m_end >= end_with_trailer() + static_cast<off_t>(data.size));
    if (has_data)
        m_size += static_cast<off_t>(data.size);
    m_trailer_error = 0;
    const bool is_as_before = done == 0 && ends_with_trailer;
    if (error != 0 && !is_as_before)
        put_back(m_rest == Rest::counts ? old_end : 0, undisturbed);
    return has_data ? 0 : error;
}

// From the first byte on that is not in the file yet.
int OutputFile::write_parts(iovec* part, const iovec* end, size_t& done, const Undisturbed& undisturbed) const
{
    for (;;) {
        for (; part != end && part->iov_len == 0; ++part) {
        }
        if (part == end)
            return 0;
        const ssize_t written =
            pwritev(m_descriptor, part, static_cast<int>(end - part), m_size + static_cast<off_t>(done));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            const int error = written < 0 ? errno : ENOSPC;
            if (error == EFBIG)
                undisturbed.discard(SIGXFSZ);
            return error;
        }
        done += static_cast<size_t>(written);
        skip(part, static_cast<size_t>(written));
    }
}

// After a failed write: to the last data that are complete, and the trailer. Up to the place @p room the file
// is not shortened.
void OutputFile::put_back(off_t room, const Undisturbed& undisturbed)
{
    const off_t end = room > end_with_trailer() ? room : end_with_trailer();
    if (m_end > end) {
        if (!shorten(m_descriptor, end, m_end))
            return; // a cut-off last line stays; readers know it
        m_end = end;
    }
    iovec part = to_iovec(m_trailer);
    size_t done = 0;
    m_trailer_error = write_parts(&part, &part + 1, done, undisturbed);
    if (m_trailer_error != 0 && shorten(m_descriptor, m_size, m_end))
        m_end = m_size;
}

int OutputFile::close()
{
    if (!m_is_open)
        return 0;
    if (m_node_file != nullptr) {
        m_is_open = false;
        return 0;
    }
    const int error = take_descriptor();
    m_is_open = false;
    const int close_error = error == 0 && ::close(m_descriptor) != 0 ? errno : m_trailer_error;
    give_up_claim(); // now that no lock is lost any more
    return error != 0 ? error : close_error;
}

} // namespace hdtrace
