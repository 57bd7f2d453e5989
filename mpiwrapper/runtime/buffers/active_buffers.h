// Memory that belongs to MPI until an operation is complete, and whether the program changes it meanwhile
// (settings.for_check). MPI 4.1, 3.7.2, 6.12, 12.3 and 14.4.5 say what it may not do.
//
// What MPI only reads is the same when the operation ends as when it began, or the program has changed it.
// Into what MPI writes it writes only inside calls of the process, where no hardware does it: if such memory
// has changed between the call that starts the operation and the next one, and is something else again when
// the operation ends, then the program has written there as well. That is asked of short messages only, which
// arrive as a whole. Of files some MPI libraries read in threads of their own, which the checker knows.
//
// The processor watches the first bytes of some of the memory besides (watchpoints.h), and so tells the place
// in the program, and of what is only read.
//
// All functions are for all threads.
#pragma once

#include "mpiwrapper/runtime/buffers/watchpoints.h"

#include <stddef.h>
#include <stdint.h>

namespace hdtrace {
class TextBuffer;
}

namespace hdtrace::mpi {

/// What an operation ends with: its request, or a synchronisation of its window with its target.
struct Operation {
    int64_t rid = -1;
    int64_t window = -1;
    int64_t target = -1;      ///< its world rank
    bool is_prepared = false; ///< `rid` is that of a persistent request, of which MPI_Start makes operations
};

/// Who starts an operation.
struct Starter {
    Watchpoints& watchpoints; ///< its thread's, which exist as long as this thread
    int32_t site;             ///< the number of its place in the program; 0: not known
};

/// Whether other threads may be in calls of MPI. Once, before the first operation.
void set_buffers_shared_by_threads();

/// Memory that cannot be read, or for which memory is short, is left out.
void watch_buffer(const Operation& operation, BufferUse use, const Memory& memory, const Starter& starter);
/// MPI_Start makes operation @p rid of the persistent request @p init_rid.
void watch_started_buffers(int64_t init_rid, int64_t rid, const Starter& starter);
/// The program can no longer know when the operation ends (MPI_Request_free), or knows that it has ended
/// (MPI_Request_get_status).
void forget_buffers(int64_t rid);

/// Another call of MPI begins in the thread that started the last operations.
void look_at_new_buffers();
/// A call of MPI begins in the thread whose watchpoints these are, which is in no other.
void look_at_watchpoints(Watchpoints& watchpoints);
/// The thread ends.
void close_watchpoints(Watchpoints& watchpoints);

/// What the program did to memory while it was MPI's: each gets "address:rid;" for a part of the memory of an
/// operation, without the rid if it has none, and "address:rid:site;" if it is known where.
struct EarlyUses {
    TextBuffer& changed;
    TextBuffer& used; ///< it was read or written where MPI writes, which of both is not known
};

/// The operation is complete: tells of its memory.
void end_buffers(int64_t rid, const EarlyUses& uses);
/// The same for all operations on a window, or those on one target. @p target -1: all.
void end_buffers_of_window(int64_t window, int64_t target, const EarlyUses& uses);

} // namespace hdtrace::mpi
