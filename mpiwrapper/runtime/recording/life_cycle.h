// The life of the tracer inside a process: its settings, its threads, start and stop.
#pragma once

#include "hdtrace/writer/trace_writer.h"
#include "mpiwrapper/runtime/objects/communicators.h"
#include "mpiwrapper/runtime/objects/datatypes.h"
#include "mpiwrapper/runtime/objects/files.h"
#include "mpiwrapper/runtime/objects/windows.h"
#include "mpiwrapper/runtime/settings.h"

namespace hdtrace::mpi {

/// What every call looks at first. MPI_Pcontrol and the end of the trace change it.
struct Gate {
    int record_depth = 0;   ///< calls at a smaller depth are recorded
    int tracking_depth = 0; ///< at a smaller depth requests and files are followed
    int level = 0;          ///< the highest level of functions that is recorded
};

extern Gate gate;

/// Memory for the copies of handles and statuses that a completion call needs; grows and is kept. Calls
/// inside such a call get memory of their own.
class Scratch {
  public:
    ~Scratch();
    /// Null if memory is short.
    void* take(size_t size);
    void give_back(void* memory);
    /// Whoever has it will not give it back.
    void take_away() { m_is_taken = false; }

  private:
    void* m_memory = nullptr;
    size_t m_size = 0;
    bool m_is_taken = false;
};

/// A call that a thread is in.
struct OpenCall {
    const void* place; ///< its Call, on the stack
    int depth;         ///< of its thread before it
    int state_depth;   ///< of the trace before it
    int64_t begin;     ///< 0 until then
};

/// What belongs to one thread of the program.
struct Thread {
    int depth = 0; ///< MPI calls of ours that this thread is in
    int call_count = 0;
    OpenCall calls[TraceWriter::max_depth]; ///< the outermost first
    const void* stack_begin = nullptr;      ///< the lowest address; null if it is not known
    const void* stack_end = nullptr;
    int number = 0;
    HandleCache<MPI_Comm, const Comm*> comms;
    HandleCache<MPI_Datatype, Type> types;
    HandleCache<MPI_Win, Window> windows;
    HandleCache<MPI_File, File> files;
    Clock clock;
    Scratch handles;
    Scratch statuses;
    TraceWriter writer;
    void* signal_stack = nullptr;

    bool is_on_stack(const void* place) const { return stack_begin <= place && place < stack_end; }
    Thread* next = nullptr;
};

/// Null until the thread's first call after MPI_Init, and where nothing is traced.
extern __thread Thread* current_thread;

/// Makes the thread known, if MPI is initialised and the process is traced.
Thread* enter_thread();

/// A longjmp() or an exception has left the calls from this number on: they become unfinished states.
void lose_calls(Thread& thread, int first);

/// While MPI_Init runs, calls that the MPI library makes are not looked at. Times count from here.
void begin_init();
void init_failed();
/// MPI_Init is done. Opens the trace; does nothing if that has been done. @p thread_level is what MPI
/// provides.
void start(int thread_level);
#if MPI_VERSION >= 4
/// The same for a program that uses sessions in place of MPI_Init.
void start_from_session(MPI_Session session);
#endif
/// MPI_Pcontrol.
void pause_recording();
void resume_recording();
/// Whole lines of the calling thread, and all descriptions, go to the files.
void flush_own_trace();
/// What all threads have recorded so far goes to the files, with the calls that they are in. Does nothing in
/// a child of fork() or vfork(). Safe in signal handlers.
void save_all_threads();
/// Closes all files. Nothing is recorded after it. Does nothing in a child of fork() or vfork(). Safe in
/// signal handlers.
void stop();

/// Adds lines to the process's .info. Thread-safe.
void write_info(const TextBuffer& lines);
/// Nanoseconds since the epoch that times in the trace count from.
int64_t time_base();
const char* host_name();
/// The uid of this process's MPI_COMM_WORLD: "W", or "W<number>" for processes that were spawned.
const char* world_uid();

} // namespace hdtrace::mpi
