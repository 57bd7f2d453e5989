// The one file that all processes of a run on this host write to (docs/format.md), in place of files of their
// own.
#pragma once

#include "hdtrace/writer/undisturbed.h"

#include <stdint.h>
#include <sys/stat.h>
#include <sys/uio.h>

namespace hdtrace {

/// Files are added to it piece by piece; the kernel hands out the room, as it does for all who append to a
/// file. Functions return 0 or a value of errno. Thread-safe but for open(), and safe in signal handlers.
class NodeFile {
  public:
    /// That of this process, if the file of this path belongs into it: its name begins with what open() was
    /// given. Else null.
    static NodeFile* for_path(const char* path);

    /// Who opens it.
    struct Process {
        const char* run; ///< tells the run from others that live at the same time; empty: nobody joins it
        int64_t begin;   ///< when the process began, in seconds since the epoch
    };
    /// Opens "<prefix>.node" for this process: the one that others of its run have begun, else a new one, in
    /// place of one of a run that has ended. EBUSY if processes of another run write to it, or a program that
    /// this process executed before has; EEXIST if something that is not ours has the name. May be called
    /// again with another prefix, while nothing was written.
    static int open(const char* prefix, const Process& process);

    /// A file in it.
    struct Stream {
        uint64_t number = 0;
        off_t rest = -1; ///< where a piece stands that is for what changes; -1: there is none
        size_t room = 0; ///< of that
    };
    /// Begins the file of that path, which is empty; what has the name in the node file is gone.
    int begin(const char* path, Stream& stream);
    /// Puts the parts behind @p position: the first one for good, the others until the next time. In one
    /// system call: they are there as a whole or not at all.
    int write(Stream& stream, int64_t position, const iovec (&parts)[3], const Undisturbed& undisturbed);

  private:
    int open_as(const char* path, const Process& process);
    void close();
    void close_descriptors();
    int join(const Process& process);
    int begin_anew(const char* run);
    bool is_of_run(const char* run) const;
    bool is_of_this_process() const;
    bool is_still_ours(int descriptor) const;
    int write_data(const Stream& stream, int64_t position, const iovec (&parts)[3],
                   const Undisturbed& undisturbed) const;
    int write_rest(Stream& stream, int64_t position, const iovec (&parts)[3], const Undisturbed& undisturbed);
    int append(const iovec* parts, int count, off_t* where, const Undisturbed& undisturbed) const;
    int write_over(const iovec* parts, int count, off_t where, const Undisturbed& undisturbed) const;

    int m_descriptor = -1; // that appends
    int m_writing_over = -1;
    char* m_prefix = nullptr;
    dev_t m_device = 0;
    ino_t m_inode = 0;
    uint32_t m_streams = 0;
};

} // namespace hdtrace
