#include "hdtrace/writer/node_file.h"

#include "hdtrace/node_file_form.h"
#include "hdtrace/writer/descriptor.h"
#include "hdtrace/writer/own_file.h"
#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/text_buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

namespace hdtrace {

namespace {

constinit NodeFile node_file;
pthread_mutex_t append_mutex = HDTRACE_MUTEX_INITIALIZER;

constexpr int open_to_append = O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;
constexpr int64_t minute = 60;

struct flock lock_of(short type, off_t begin, off_t size)
{
    struct flock lock = {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = begin;
    lock.l_len = size;
    return lock;
}

// No other one of this host has it. Processes of containers may all be the first one there, so what tells
// those apart, their namespace, stands before the bits that Linux has for its numbers.
uint32_t number_of_process()
{
    constexpr int bits = 22;
    struct stat status = {};
    const bool is_known = stat("/proc/self/ns/pid", &status) == 0;
    return (is_known ? static_cast<uint32_t>(status.st_ino) << bits : 0) | static_cast<uint32_t>(getpid());
}

// Such locks end with the process. Where there are none, nobody can tell who lives.
void lock_own_byte(int descriptor)
{
    struct flock lock = lock_of(F_WRLCK, node_locks_begin + number_of_process(), 1);
    fcntl(descriptor, F_SETLK, &lock);
}

bool does_another_live(int descriptor)
{
    struct flock lock = lock_of(F_WRLCK, node_locks_begin, 0);
    return fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/// While it lives, no other process joins: the first one may begin the file anew.
class Gate {
  public:
    explicit Gate(int descriptor) : m_descriptor(descriptor)
    {
        constexpr long pause = 1'000'000; // nanoseconds
        constexpr int most_pauses = 5000; // a process may be stopped while it holds the lock
        struct flock lock = lock_of(F_WRLCK, node_gate, 1);
        for (int i = 0; i < most_pauses; ++i) {
            m_is_open = fcntl(descriptor, F_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
            if (m_is_open)
                break;
            const timespec time = {0, pause};
            nanosleep(&time, nullptr);
        }
    }
    ~Gate()
    {
        struct flock lock = lock_of(F_UNLCK, node_gate, 1);
        fcntl(m_descriptor, F_SETLK, &lock);
    }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;

    bool is_open() const { return m_is_open; }

  private:
    int m_descriptor;
    bool m_is_open = false;
};

/// Room behind the rest, so that it may grow. At most as much as a buffer, since it may be gone for good.
class Padding {
  public:
    static constexpr size_t least = 1024, most = 256 * 1024;
    static constexpr int most_parts = 64;

    static size_t for_rest(size_t rest) { return rest < least ? least : rest < most ? rest : most; }
    /// Returns how many parts it made.
    static int put(iovec* parts, size_t size)
    {
        static constexpr char zeros[most / most_parts] = {};
        int count = 0;
        for (; size > 0; ++count) {
            const size_t part = size < sizeof zeros ? size : sizeof zeros;
            parts[count] = {const_cast<char*>(zeros), part};
            size -= part;
        }
        return count;
    }
};

size_t size_of(const iovec* parts, int count)
{
    size_t size = 0;
    for (int i = 0; i < count; ++i)
        size += parts[i].iov_len;
    return size;
}

// The result of a system call that writes.
int error_of(ssize_t written, size_t size, const Undisturbed& undisturbed)
{
    if (written == static_cast<ssize_t>(size))
        return 0;
    const int error = written < 0 ? errno : ENOSPC;
    if (error == EFBIG)
        undisturbed.discard(SIGXFSZ);
    return error;
}

// Behind the head; 0 if there is none.
off_t end_of_head(int descriptor)
{
    char head[node_head_size];
    if (pread(descriptor, head, sizeof head, 0) != ssize_t{sizeof head} ||
        memcmp(head, node_file_mark, sizeof node_file_mark) != 0)
        return 0;
    const uint64_t name_size = get_little_endian(head + sizeof node_file_mark);
    return name_size <= longest_run_name ? static_cast<off_t>(node_head_size + name_size) : 0;
}

} // namespace

NodeFile* NodeFile::for_path(const char* path)
{
    const char* const prefix = node_file.m_prefix;
    if (prefix == nullptr)
        return nullptr;
    const size_t size = strlen(prefix);
    return strncmp(path, prefix, size) == 0 && path[size] == '_' ? &node_file : nullptr;
}

int NodeFile::open(const char* prefix, const Process& process)
{
    node_file.close();
    TextBuffer path;
    path.string(prefix).text(node_file_suffix);
    char* const kept = own_strdup(prefix);
    const int error = path.bad() || kept == nullptr ? ENOMEM : node_file.open_as(path.c_string(), process);
    if (error == 0)
        node_file.m_prefix = kept;
    else
        own_free(kept);
    return error;
}

void NodeFile::close()
{
    if (m_prefix == nullptr)
        return;
    close_descriptors();
    own_free(m_prefix);
    m_prefix = nullptr;
}

void NodeFile::close_descriptors()
{
    ::close(m_writing_over);
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

int NodeFile::open_as(const char* path, const Process& process)
{
    const int first = open_own_file(path); // which makes it, and looks at whose it is
    if (first < 0)
        return errno;
    m_writing_over = move_up(first);
    const int appending = ::open(path, open_to_append);
    m_descriptor = appending >= 0 ? move_up(appending) : -1;
    struct stat status;
    const bool is_known = fstat(m_writing_over, &status) == 0;
    m_device = status.st_dev;
    m_inode = status.st_ino;
    const int error = is_known && is_still_ours(m_descriptor) ? join(process) : EEXIST;
    if (error != 0)
        close_descriptors();
    return error;
}

// Of a run that has ended, another one may have the name again.
int NodeFile::join(const Process& process)
{
    const Gate gate(m_descriptor);
    struct stat status;
    if (!gate.is_open() || fstat(m_descriptor, &status) != 0)
        return EBUSY;
    const bool is_alive = does_another_live(m_descriptor);
    const bool is_older = !is_alive && status.st_mtim.tv_sec < process.begin - minute;
    if (!is_older && is_of_this_process())
        return EBUSY;
    const bool is_ours = !is_older && is_of_run(process.run);
    if (!is_ours && is_alive)
        return EBUSY;
    const int error = is_ours ? 0 : begin_anew(process.run);
    if (error == 0)
        lock_own_byte(m_descriptor);
    return error;
}

int NodeFile::begin_anew(const char* run)
{
    const size_t size = strnlen(run, longest_run_name);
    char head[node_head_size];
    memcpy(head, node_file_mark, sizeof node_file_mark);
    put_little_endian(head + sizeof node_file_mark, size);
    iovec parts[] = {{head, sizeof head}, {const_cast<char*>(run), size}};
    const Undisturbed undisturbed;
    if (ftruncate(m_descriptor, 0) != 0 || fchmod(m_descriptor, S_IRUSR | S_IWUSR) != 0)
        return errno;
    return append(parts, 2, nullptr, undisturbed);
}

bool NodeFile::is_of_run(const char* run) const
{
    char name[longest_run_name];
    const size_t size = strnlen(run, sizeof name);
    return size > 0 && end_of_head(m_descriptor) == static_cast<off_t>(node_head_size + size) &&
           pread(m_descriptor, name, size, node_head_size) == static_cast<ssize_t>(size) &&
           memcmp(name, run, size) == 0;
}

// It was another program of this process then, which it executed before.
bool NodeFile::is_of_this_process() const
{
    const uint32_t number = number_of_process();
    char head[node_piece_size];
    NodePiece piece;
    for (off_t at = end_of_head(m_descriptor);
         at > 0 && pread(m_descriptor, head, sizeof head, at) == ssize_t{sizeof head} &&
         get_node_piece(head, piece);
         at += static_cast<off_t>(node_piece_size + piece.room)) {
        if (piece.stream >> 32 == number)
            return true;
    }
    return false;
}

int NodeFile::begin(const char* path, Stream& stream)
{
    const uint32_t number = __atomic_add_fetch(&m_streams, 1, __ATOMIC_RELAXED);
    stream = {static_cast<uint64_t>(number_of_process()) << 32 | number};
    const char* const name = path + strlen(m_prefix) + 1;
    const iovec parts[3] = {{const_cast<char*>(name), strlen(name)}, {}, {}};
    return write(stream, static_cast<int64_t>(begin_of_stream), parts, Undisturbed());
}

int NodeFile::write(Stream& stream, int64_t position, const iovec (&parts)[3], const Undisturbed& undisturbed)
{
    return parts[0].iov_len > 0 ? write_data(stream, position, parts, undisturbed)
                                : write_rest(stream, position, parts, undisturbed);
}

int NodeFile::write_data(const Stream& stream, int64_t position, const iovec (&parts)[3],
                         const Undisturbed& undisturbed) const
{
    const size_t size = parts[0].iov_len, rest = parts[1].iov_len + parts[2].iov_len;
    char head[node_piece_size];
    put_node_piece(head, {stream.number, static_cast<uint64_t>(position), size, rest, size + rest});
    const iovec all[] = {{head, sizeof head}, parts[0], parts[1], parts[2]};
    return append(all, 4, nullptr, undisturbed);
}

// A process that waits says so again and again, which must not make the file grow.
int NodeFile::write_rest(Stream& stream, int64_t position, const iovec (&parts)[3],
                         const Undisturbed& undisturbed)
{
    const size_t rest = parts[1].iov_len + parts[2].iov_len;
    const bool is_new = stream.rest < 0 || rest > stream.room;
    const size_t room = is_new ? rest + Padding::for_rest(rest) : stream.room;
    char head[node_piece_size];
    put_node_piece(head, {stream.number, static_cast<uint64_t>(position), 0, rest, room});
    iovec all[3 + Padding::most_parts] = {{head, sizeof head}, parts[1], parts[2]};
    if (!is_new)
        return write_over(all, 3, stream.rest, undisturbed);
    const int error = append(all, 3 + Padding::put(all + 3, room - rest), &stream.rest, undisturbed);
    stream.room = error == 0 ? room : 0;
    return error;
}

// The program may have closed the descriptor, and opened another file under its number.
bool NodeFile::is_still_ours(int descriptor) const
{
    struct stat status;
    return fstat(descriptor, &status) == 0 && status.st_dev == m_device && status.st_ino == m_inode;
}

// What is written only in part is no piece for readers: others may have appended behind it. Tells where it
// stands; -1 if others did the same, or this thread when it had a fault.
int NodeFile::append(const iovec* parts, int count, off_t* where, const Undisturbed& undisturbed) const
{
    if (!is_still_ours(m_descriptor))
        return EBADF;
    const size_t size = size_of(parts, count);
    const bool is_locked = lock_mutex(append_mutex); // the place is told by the descriptor
    ssize_t written = 0;
    do
        written = writev(m_descriptor, parts, count);
    while (written < 0 && errno == EINTR);
    const int error = error_of(written, size, undisturbed);
    if (where != nullptr)
        *where = is_locked && error == 0 ? lseek(m_descriptor, 0, SEEK_CUR) - static_cast<off_t>(size) : -1;
    if (is_locked)
        pthread_mutex_unlock(&append_mutex);
    return error;
}

int NodeFile::write_over(const iovec* parts, int count, off_t where, const Undisturbed& undisturbed) const
{
    if (!is_still_ours(m_writing_over))
        return EBADF;
    ssize_t written = 0;
    do
        written = pwritev(m_writing_over, parts, count, where);
    while (written < 0 && errno == EINTR);
    return error_of(written, size_of(parts, count), undisturbed);
}

} // namespace hdtrace
