// A file that one of our writers owns inside a foreign program.
#pragma once

#include "hdtrace/writer/node_file.h"
#include "hdtrace/writer/undisturbed.h"

#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

namespace hdtrace {

struct Text {
    const char* data;
    size_t size;
};

/// All functions return 0 or a value of errno. Not thread-safe.
class OutputFile {
  public:
    /// What may stand behind the data until the next write(). If it counts, it is an error that it cannot be
    /// written; the file then ends with the trailer, but keeps the room of the last one, so that this can be
    /// written again.
    enum class Rest { may_be_lost, counts };

    OutputFile() = default;
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    ~OutputFile();

    /// Creates or empties the file, which nobody else may read; EEXIST if something else has its name
    /// (own_file.h). The descriptor is a high one that is closed on exec, so that the program
    /// gets the same numbers for its own files as without us; where they are scarce the file is open only
    /// while it is written. Whatever happens later, the file ends with @p trailer from its first write() on;
    /// it is not copied. Where the process has a node file (node_file.h) that it belongs into, it is a part
    /// of that.
    int open(const char* path, Text trailer = {}, Rest rest = Rest::may_be_lost)
    {
        return open_as(Owner::anybody, path, trailer, rest);
    }
    /// The same, but EBUSY if another one of this process has claimed the file and not closed it, or another
    /// process that lives, on this host or, where the file system knows locks of other hosts, on another one.
    int claim(const char* path);
    /// Writes all of it, or puts the file back to the state before the call and returns why. EBADF if the
    /// program has taken the descriptor away, or in a forked child: the file belongs to the process that
    /// opened it. Writing beyond the file-size limit raises no signal, therefore @p undisturbed.
    int write(Text data, const Undisturbed& undisturbed);
    /// The same, but until the next write() the file ends with @p rest and @p end in place of the trailer.
    int write(Text data, Text rest, Text end, const Undisturbed& undisturbed);
    /// Returns why the trailer could not be written, among others.
    int close();
    bool is_open() const { return m_is_open; }
    /// Null before it was opened.
    const char* path() const { return m_path; }
    /// Bytes that no later write goes over.
    int64_t size() const { return m_size; }

  private:
    enum class Owner { anybody, this_process };

    bool keep_path(const char* path);
    int open_as(Owner owner, const char* path, Text trailer, Rest rest);
    int open_for_itself(Owner owner);
    int open_in_node_file(Owner owner);
    int make_empty();
    void keep_claim();
    void give_up_claim();
    void forget_claim();
    static bool is_claimed_here(const char* path);
    int take_descriptor();
    int leave_descriptor();
    bool is_still_ours() const;
    int write_here(Text data, Text rest, Text end, const Undisturbed& undisturbed);
    int write_to_node_file(Text data, Text rest, Text end, const Undisturbed& undisturbed);
    int write_parts(iovec* part, const iovec* end, size_t& done, const Undisturbed& undisturbed) const;
    void put_back(off_t room, const Undisturbed& undisturbed);
    off_t end_with_trailer() const { return m_size + static_cast<off_t>(m_trailer.size); }

    bool m_is_open = false;
    NodeFile* m_node_file = nullptr; // null: it has a file for itself
    NodeFile::Stream m_stream;       // there
    bool m_is_kept = true;           // the descriptor, between two writes
    int m_descriptor = -1;
    char* m_path = nullptr;
    size_t m_path_room = 0;
    pid_t m_process = 0;
    dev_t m_device = 0;
    ino_t m_inode = 0;
    OutputFile* m_next_claimed = nullptr; // of this process
    bool m_is_claimed = false;
    off_t m_size = 0; // without what the next write() goes over
    off_t m_end = 0;
    Text m_trailer = {};
    Rest m_rest = Rest::may_be_lost;
    int m_trailer_error = 0;
};

} // namespace hdtrace
