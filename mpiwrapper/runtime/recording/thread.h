// The threads of the program and their traces.
#pragma once

#include "hdtrace/writer/trace_writer.h"
#include "mpiwrapper/runtime/buffers/kept_buffers.h"
#include "mpiwrapper/runtime/buffers/watchpoints.h"
#include "mpiwrapper/runtime/counters/thread_counters.h"
#include "mpiwrapper/runtime/objects/communicators.h"
#include "mpiwrapper/runtime/objects/datatypes.h"
#include "mpiwrapper/runtime/objects/files.h"
#include "mpiwrapper/runtime/objects/windows.h"
#include "mpiwrapper/runtime/process/signals.h"
#include "mpiwrapper/runtime/recording/call_counts.h"
#include "mpiwrapper/runtime/recording/polls.h"
#include "mpiwrapper/runtime/recording/scratch.h"
#include "mpiwrapper/runtime/recording/sums.h"
#include "mpiwrapper/runtime/regions/open_regions.h"
#include "mpiwrapper/runtime/sites/call_sites.h"

namespace hdtrace::mpi {

/// A call that a thread is in.
struct OpenCall {
    void* place;     ///< its Call, on a stack; null if it has ended in another thread, or was lost. Atomic
    int depth;       ///< of its thread before it
    int state_depth; ///< of the trace before it
    int64_t begin;   ///< 0 until then
};

/// What belongs to one thread of the program.
struct Thread {
    int holders = 1; ///< the thread itself, and calls that it lost but may yet end; then it is freed. Atomic
    int depth = 0;   ///< MPI calls of ours that this thread is in
    int call_count = 0;
    OpenCall calls[TraceWriter::max_depth]; ///< the outermost first
    /// When they ended, of those that did in other threads; else 0.
    int64_t ends_elsewhere[TraceWriter::max_depth] = {};
    const void* stack_begin = nullptr; ///< the lowest address; null if it is not known
    const void* stack_end = nullptr;
    uintptr_t stack_base = 0; ///< outermost_of_callers() there; 0 if it is not known
    int number = 0;
    pid_t tid = 0;
    int64_t begin = 0; ///< when it was made known
    CallSites sites;
    HandleCache<MPI_Comm, const Comm*> comms; ///< with a reference to each
    HandleCache<MPI_Datatype, Type> types;
    HandleCache<MPI_Win, Window> windows;
    HandleCache<MPI_File, File> files;
    CallCounts counts;
    PollSeries polls;
    int64_t poll_time = 0; ///< in those of them outside of other calls that were left out since the last line
    int64_t call_number = 0; ///< of the call that is decided about, among those of its function
    Clock clock;
    Scratch handles;
    Scratch statuses;
    KeptBuffers buffers; ///< of the call that it is in
    OpenRegions regions;
    int events_in_call = 0;     ///< of the program's own, in the call that it is in
    const void* work = nullptr; ///< the last Work for one of them, on a stack
    SiteText next_site = {};    ///< of the next of these events, if the program told
    TraceWriter writer;
    Sums* sums = nullptr; ///< null if none are wanted
    ThreadCounters counters;
    Watchpoints watchpoints;
    SignalStack signal_stack;
    int end_rounds = 0;         ///< of destructors, as POSIX calls them again while they set values again
    const char* name = nullptr; ///< null: what the system says

    void* place_of_call(int call) const { return __atomic_load_n(&calls[call].place, __ATOMIC_ACQUIRE); }
    bool is_on_stack(const void* place) const { return stack_begin <= place && place < stack_end; }
    size_t stack_size() const
    {
        return static_cast<size_t>(static_cast<const char*>(stack_end) -
                                   static_cast<const char*>(stack_begin));
    }
    /// Whether a function with this __builtin_frame_address(0) has been called from the thread's first one:
    /// not if it runs on a stack that is in a variable on the thread's, as a coroutine or a signal handler
    /// may. True if that is not known.
    bool is_called_from_base(const void* frame) const;
    Thread* next = nullptr;
};

/// Null until the thread's first call or event after MPI_Init, and where nothing is traced.
extern __thread Thread* current_thread;

/// The same behind a call of the program's: it may have begun in another thread of the system, where a
/// scheduler of the program's has suspended what it runs. A compiler may keep the address of a thread's
/// variable meanwhile, but on x86-64, where it needs none.
#ifdef __x86_64__
inline Thread* thread_of_now()
{
    return current_thread;
}
#else
Thread* thread_of_now();
#endif

/// The calls from this number on were left, by a longjmp() or an exception, or go on in other threads: they
/// become unfinished states.
void lose_calls(Thread& thread, int first);

/// The call with this number, whose Call is at @p place, has ended in another thread than this one, at @p
/// end.
void end_elsewhere(Thread* thread, int number, void* place, int64_t end);

/// A call of it that lose_calls() has taken has ended.
void let_go(Thread& thread, const void* place);

/// One of its holders needs it no longer.
void drop_hold(Thread* thread);

/// For a call that ends where no thread is known. It has no trace, and one holder.
Thread* make_stand_in();

/// Fills in where the stack of the calling thread is, if the system tells.
void find_stack(Thread& thread);

/// Must come before the first add_thread(): the traces of threads that end are closed.
void watch_thread_ends();
/// Makes the calling thread known and opens its trace. Null if memory is short.
Thread* add_thread();

/// Opens a trace, with the next number, that no thread of the program has. Null if memory is short.
Thread* add_trace_of_ours(const char* name);

/// What the calling thread has recorded goes to its files.
void flush(Thread& thread);

/// What all threads have recorded so far goes to the files, with the calls that they are in. Whoever calls
/// these holds the mutex of the state.
void save_traces();
void close_traces();

/// In a child of fork(): the parent's files are none of its business.
void forget_threads();

} // namespace hdtrace::mpi
