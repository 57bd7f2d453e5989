#include "mpiwrapper/runtime/objects/files.h"

#include "hdtrace/writer/clock.h"
#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/undisturbed.h"
#include "mpiwrapper/runtime/library/real.h"
#include "mpiwrapper/runtime/objects/lock.h"
#include "mpiwrapper/runtime/objects/object_table.h"
#include "mpiwrapper/runtime/process/identity.h"
#include "mpiwrapper/runtime/process/info_sink.h"

#include <fcntl.h>
#include <glib.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

namespace hdtrace::mpi {

constinit Generations<MPI_File> file_generations;

namespace {

struct OpenFile : TableEntry<OpenFile> {
    File file;
    Request split_access;
};

pthread_mutex_t mutex = HDTRACE_MUTEX_INITIALIZER; // for the tables; never held during a call of MPI
constinit NumbersByName ids;                       // by canonical name
constinit ObjectTable<OpenFile> open_files;        // by handle
int64_t next_id = 0;
int64_t openings = 0;

// Whoever calls these holds the mutex.
OpenFile* lookup(MPI_File handle)
{
    return open_files.find(handle_bits(handle));
}

void forget(OpenFile* open)
{
    open_files.remove(open);
    own_free(open);
}

// ROMIO takes "ufs:name", "pvfs2:name" and the like: letters and digits before the first colon.
const char* behind_prefix(const char* name)
{
    const char* end = name;
    while (g_ascii_isalnum(*end))
        ++end;
    return *end == ':' && end > name + 1 ? end + 1 : name;
}

// A path that is not on the stack: threads and signal handlers may have small ones.
class OwnPath {
  public:
    OwnPath() : m_text(static_cast<char*>(own_malloc(PATH_MAX))) {}
    ~OwnPath() { own_free(m_text); }
    OwnPath(const OwnPath&) = delete;
    OwnPath& operator=(const OwnPath&) = delete;

    const char* text() const { return m_text; }
    /// These are false if there is no room for it, or no memory.
    bool resolve(const char* path) { return m_text != nullptr && realpath(path, m_text) != nullptr; }
    bool set_to_directory_of(const char* path)
    {
        const char* const slash = strrchr(path, '/');
        const size_t length = slash == nullptr ? 0 : slash == path ? 1 : static_cast<size_t>(slash - path);
        if (m_text == nullptr || length >= PATH_MAX)
            return false;
        memcpy(m_text, path, length);
        m_text[length] = '\0';
        if (length == 0)
            strcpy(m_text, ".");
        return true;
    }

  private:
    char* m_text;
};

// The part of a path that exists is resolved; a last component that does not exist yet is kept.
void add_canonical_path(TextBuffer& out, const char* path)
{
    OwnPath resolved, directory;
    if (resolved.resolve(path)) {
        out.string(resolved.text());
        return;
    }
    if (directory.set_to_directory_of(path) && resolved.resolve(directory.text())) {
        const char* const slash = strrchr(path, '/');
        out.string(strcmp(resolved.text(), "/") == 0 ? "" : resolved.text())
            .text("/")
            .string(slash != nullptr ? slash + 1 : path);
    } else {
        out.string(path);
    }
}

// Of the file, or of its directory if it is not there yet.
bool find_file_system(const char* path, struct statfs& system)
{
    if (statfs(path, &system) == 0)
        return true;
    OwnPath directory;
    return directory.set_to_directory_of(path) && statfs(directory.text(), &system) == 0;
}

// Whether other hosts cannot see the file, as far as its file system tells.
bool is_local(const char* path)
{
    constexpr decltype(statfs::f_type)
        local_systems[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,     F2FS_SUPER_MAGIC,
                           TMPFS_MAGIC,      RAMFS_MAGIC,     OVERLAYFS_SUPER_MAGIC, MSDOS_SUPER_MAGIC,
                           0x2fc12fc1 /* ZFS, which Linux does not define */};
    struct statfs system;
    if (!find_file_system(path, system))
        return false;
    for (const auto type : local_systems)
        if (system.f_type == type)
            return true;
    return false;
}

// What the file system itself calls the file; nothing where it has no such handles.
void add_handle(TextBuffer& line, const char* path)
{
    union {
        file_handle handle;
        unsigned char memory[sizeof(file_handle) + MAX_HANDLE_SZ];
    } place;
    place.handle.handle_bytes = MAX_HANDLE_SZ;
    int mount = 0;
    if (name_to_handle_at(AT_FDCWD, path, &place.handle, &mount, 0) != 0)
        return;
    char digits[2 * MAX_HANDLE_SZ + 1];
    char* end = digits;
    for (unsigned i = 0; i < place.handle.handle_bytes; ++i) {
        const unsigned byte = place.memory[sizeof(file_handle) + i];
        *end++ = "0123456789abcdef"[byte >> 4];
        *end++ = "0123456789abcdef"[byte & 15];
    }
    *end = '\0';
    line.text(" handle='").string(digits).text("'");
}

// Which file it is whatever its name. An inode is used again for the next file that is made, maybe within the
// same tick of the clock: hence the time of birth, and a handle, which has another number for each use.
void add_identity(TextBuffer& line, const char* path)
{
    struct statx status;
    const bool exists = statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &status) == 0;
    if (exists) {
        line.text(" device=")
            .number(static_cast<int64_t>(makedev(status.stx_dev_major, status.stx_dev_minor)));
        line.text(" inode=").number(static_cast<int64_t>(status.stx_ino));
    }
    line.text(" host='").info_escaped(this_process().host).text("'");
    if (exists && (status.stx_mask & STATX_BTIME))
        line.text(" birth=").seconds(status.stx_btime.tv_sec * nanoseconds_per_second +
                                     status.stx_btime.tv_nsec);
    if (exists)
        add_handle(line, path);
    if (is_local(path))
        line.text(" local=1");
}

void write_line(const char* name, int64_t id, int64_t size, int64_t time)
{
    TextBuffer line;
    line.text("File name=\"").info_escaped(name).text("\" Size=").number(size).text(" id=").number(id);
    line.text(" time=").seconds(time - time_base());
    add_identity(line, behind_prefix(name));
    write_info(line.text("\n"));
}

} // namespace

FileBeforeCall::FileBeforeCall(const char* name)
{
    if (name == nullptr)
        return;
    const char* const path = behind_prefix(name);
    m_name.bytes(name, static_cast<size_t>(path - name));
    add_canonical_path(m_name, path);
    m_time = Clock().now();
    struct stat status;
    if (stat(path, &status) == 0)
        m_size = status.st_size;
}

int64_t FileBeforeCall::id() const
{
    const char* const name = m_name.c_string();
    const Lock lock(mutex);
    int64_t* const id = m_name.bad() || !lock.held() ? nullptr : ids.find_or_add(name, -1);
    if (id == nullptr)
        return -1;
    if (*id < 0) {
        *id = next_id++;
        write_line(name, *id, m_size, m_time);
    }
    return *id;
}

File find_file(MPI_File handle)
{
    const MutexLock look(mutex);
    const OpenFile* const open = lookup(handle);
    return open != nullptr ? open->file : File();
}

void opened(MPI_File handle, int64_t id, int amode)
{
    OpenFile* const open = static_cast<OpenFile*>(own_malloc(sizeof(OpenFile)));
    if (open == nullptr)
        return;
    const Lock lock(mutex);
    if (!lock.held()) {
        own_free(open);
        return;
    }
    if (OpenFile* const older = lookup(handle))
        forget(older);
    open->file = {id, openings++, (amode & MPI_MODE_SEQUENTIAL) == 0};
    open->split_access = Request();
    open_files.add(handle_bits(handle), open);
    file_generations.end(handle);
}

void closed(MPI_File handle, const File& file)
{
    const Lock lock(mutex);
    OpenFile* const open = lock.held() ? lookup(handle) : nullptr;
    if (open == nullptr || open->file.opening != file.opening)
        return;
    forget(open);
    file_generations.end(handle);
}

Request split_access_of(MPI_File handle)
{
    const MutexLock look(mutex);
    const OpenFile* const open = lookup(handle);
    return open != nullptr ? open->split_access : Request();
}

void set_split_access(MPI_File handle, const Request& access)
{
    const Lock lock(mutex);
    OpenFile* const open = lock.held() ? lookup(handle) : nullptr;
    if (open != nullptr)
        open->split_access = access;
}

int64_t byte_offset(MPI_File handle, const File& file, MPI_Offset position)
{
    MPI_Offset offset = no_offset;
    if (!file.has_position || position < 0 ||
        real.MPI_File_get_byte_offset(handle, position, &offset) != MPI_SUCCESS)
        return no_offset;
    return offset;
}

int64_t byte_offset_of_pointer(MPI_File handle, const File& file)
{
    MPI_Offset position = no_offset;
    if (!file.has_position || real.MPI_File_get_position(handle, &position) != MPI_SUCCESS)
        return no_offset;
    return byte_offset(handle, file, position);
}

} // namespace hdtrace::mpi
