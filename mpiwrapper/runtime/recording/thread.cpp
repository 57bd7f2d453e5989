#include "mpiwrapper/runtime/recording/thread.h"

#include "hdtrace/writer/own_file.h"
#include "hdtrace/writer/own_memory.h"
#include "hdtrace/writer/undisturbed.h"
#include "mpiwrapper/runtime/buffers/active_buffers.h"
#include "mpiwrapper/runtime/process/diagnostic.h"
#include "mpiwrapper/runtime/process/flush_thread.h"
#include "mpiwrapper/runtime/process/identity.h"
#include "mpiwrapper/runtime/process/info_sink.h"
#include "mpiwrapper/runtime/process/settings.h"
#include "mpiwrapper/runtime/process/trace_place.h"
#include "mpiwrapper/runtime/recording/added_thread.h"
#include "mpiwrapper/runtime/recording/bounds.h"
#include "mpiwrapper/runtime/recording/life_lines.h"
#include "mpiwrapper/runtime/recording/state.h"

#include <errno.h>
#include <limits.h>
#include <new>
#include <stdlib.h>
#include <unistd.h>
#include <utility>

namespace hdtrace::mpi {

__thread Thread* current_thread = nullptr;

namespace {

// The mutex of the state is held while these change.
Thread* threads = nullptr;
Thread* ended_threads = nullptr; ///< whose traces new ones will go on with
int thread_count = 0;
CallCounts all_counts; ///< of the threads that have ended

pthread_key_t thread_end_key;
bool has_thread_end_key = false; ///< or another's would be taken for it
__thread bool is_added_now;
__thread bool has_ended; ///< what its last destructors call is not recorded: nobody would close the trace

// What is told has a buffer on the stack, which is small in some threads: not while more is called.
[[gnu::noinline]] void tell_of_file(const char* path)
{
    Diagnostic(everything).text("writing ").text(path);
}

[[gnu::noinline]] void warn_if_not_compressed(const TraceWriter& writer)
{
    const Compression form = writer.form();
    if (settings.compress == Compress::none || (form != Compression::none && form != Compression::compact))
        return;
    const bool is_for_text = settings.form == Form::compact && settings.compress == Compress::gzip;
    Diagnostic(warnings)
        .text("HDTRACE_COMPRESS='")
        .text(name_of(settings.compress))
        .text("' is ignored: ")
        .text(is_for_text ? "a compact trace can be compressed with zstd only"
                          : "the library that compresses is missing, too old, or has no memory");
}

// The same as of open_trace().
int open_sums(Thread& thread)
{
    TextBuffer path;
    path.string(path_prefix()).number(thread.number);
    const size_t size = path.size();
    // One of an earlier run would be taken for that of this one.
    if (!keeps_states && !TraceOutput::remove_all(path.text(".trc").c_string()))
        return EEXIST;
    path.truncate(size);
    path.text(".stats");
    thread.sums = Sums::make();
    const int error =
        path.bad() || thread.sums == nullptr ? ENOMEM : thread.sums->open(path.c_string(), thread.number);
    if (error == ENOMEM || error == EEXIST)
        return error;
    if (error != 0)
        report_write_error(path.c_string(), error);
    else
        tell_of_file(path.c_string());
    return 0;
}

// They would be taken for those of this one.
void remove_sums_of_earlier_run(const Thread& thread)
{
    TextBuffer path;
    path.string(path_prefix()).number(thread.number).text(".stats");
    remove_own_file(path.c_string());
}

// ENOMEM if memory is short: then the thread's calls cannot even be counted. EEXIST if something that is not
// ours has the name. Else 0: a file that cannot be written is only reported.
int open_trace(Thread& thread)
{
    TextBuffer path, attributes;
    path.string(path_prefix()).number(thread.number).text(".trc");
    attributes.text("rank='").number(this_process().rank);
    attributes.text("' thread='").number(thread.number).text("'");
    TraceSettings trace_settings = trace_settings_of(settings);
    trace_settings.on_error = report_write_error;
    set_bounds(trace_settings);
    if (!keeps_sums)
        remove_sums_of_earlier_run(thread);
    const int error = path.bad() || attributes.bad()
                          ? ENOMEM
                          : thread.writer.open(path.c_string(), attributes.c_string(), base_second(),
                                               trace_settings, &info_file());
    if (error == EEXIST)
        return error;
    if (error != 0)
        report_write_error(path.c_string(), error);
    else
        tell_of_file(path.c_string());
    if (thread.number == 0)
        warn_if_not_compressed(thread.writer);
    return error == ENOMEM ? error : 0;
}

// Of the traces and sums that are wanted, with an error of open_trace().
int open_files(Thread& thread)
{
    const int error = keeps_states ? open_trace(thread) : 0;
    return error == 0 && keeps_sums ? open_sums(thread) : error;
}

[[gnu::noinline]] void tell_of_end(const Thread& thread, int64_t written)
{
    Diagnostic told(results);
    told.text(path_prefix()).number(thread.number);
    if (keeps_states)
        told.text(".trc holds ").number(written).text(" states");
    else
        told.text(".stats holds sums over ").number(thread.sums->calls()).text(" calls");
}

void close_trace(Thread& thread)
{
    if (thread.sums != nullptr)
        thread.sums->close(thread.writer);
    if (keeps_states)
        thread.writer.close();
    const int64_t dropped = thread.writer.dropped_states();
    const int64_t written = thread.writer.states() - dropped;
    char line[128];
    char* end = put_number(put_text(line, "End thread="), thread.number);
    end = put_number(put_text(end, " states="), written);
    end = put_text(put_number(put_text(end, " dropped="), dropped), "\n");
    info_file().write_ahead(line, static_cast<size_t>(end - line));
    tell_of_end(thread, written);
}

void destroy(Thread* thread)
{
    Sums::destroy(thread->sums);
    if (!keeps_states)
        thread->writer.forget_states(0); // which it would write
    thread->comms.for_each([](const Comm* comm) { drop_reference(*comm); });
    thread->~Thread();
    own_free(thread);
}

// Those on other stacks may go on, perhaps in other threads, and need what they have of this one.
void hold_for_calls(Thread& thread, int first)
{
    for (int i = first; i < thread.call_count; ++i) {
        // Counted first: it may end at once.
        __atomic_fetch_add(&thread.holders, 1, __ATOMIC_RELAXED);
        const void* const place = __atomic_exchange_n(&thread.calls[i].place, nullptr, __ATOMIC_ACQ_REL);
        if (place == nullptr || thread.is_on_stack(place))
            __atomic_fetch_sub(&thread.holders, 1, __ATOMIC_RELAXED);
    }
}

// False if it is not there: the process has been forked.
bool leave_list(const Thread* thread)
{
    Thread** link = &threads;
    while (*link != nullptr && *link != thread)
        link = &(*link)->next;
    if (*link == nullptr)
        return false;
    *link = thread->next;
    return true;
}

void push(Thread*& list, Thread* thread)
{
    thread->next = list;
    list = thread;
}

// Its trace stays open. The state mutex is held.
void keep_for_others(Thread* thread)
{
    if (thread->call_count > 0)
        lose_calls(*thread, 0);
    flush(*thread);
    push(ended_threads, thread);
}

// When the calls from this number on ended, as far as that is known: not before what was inside.
int64_t end_of_lost(Thread& thread, int first)
{
    const int64_t end = std::exchange(thread.ends_elsewhere[first], 0);
    const bool is_last = thread.call_count == first + 1 && !thread.writer.has_nested();
    return end != 0 && is_last ? end : thread.clock.now();
}

// A thread of the program ended.
void end_thread(void* data)
{
    Thread* const thread = static_cast<Thread*>(data);
    // One less than there may be: the thread may have become known in the first round, behind ours.
    if (++thread->end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS - 1 &&
        pthread_setspecific(thread_end_key, thread) == 0)
        return;
    current_thread = nullptr;
    has_ended = true;
    const Lock lock(state_mutex);
    if (!leave_list(thread))
        return;
    const bool is_main = gettid() == getpid();
    const bool is_running = current_state() == State::running;
    hold_for_calls(*thread, 0);
    const bool is_kept = is_running && (settings.reuse_threads || has_window()) && !is_main &&
                         __atomic_load_n(&thread->holders, __ATOMIC_ACQUIRE) == 1;
    thread->counters.sample_last();
    thread->counters.close();
    close_watchpoints(thread->watchpoints);
    take_back_signal_stack(thread->signal_stack);
    if (is_running) {
        describe_end_of(*thread);
        all_counts.take(thread->counts);
    }
    if (is_main)
        main_thread_left();
    if (is_kept)
        return keep_for_others(thread);
    if (is_running)
        close_trace(*thread);
    drop_hold(thread);
}

// It is the calling thread's now. The state mutex is held.
void begin_thread(Thread* thread)
{
    thread->tid = gettid();
    thread->end_rounds = 0;
    thread->begin = thread->clock.now();
    describe_begin_of(*thread);
    push(threads, thread);
}

// Null if none has ended.
Thread* go_on_with_ended_thread()
{
    const Lock lock(state_mutex);
    Thread* const thread = ended_threads;
    if (thread == nullptr)
        return nullptr;
    ended_threads = thread->next;
    begin_thread(thread);
    return thread;
}

// With the next number, and its trace. Null with an error of open_trace().
Thread* make_thread(int& error)
{
    void* const memory = own_calloc(1, sizeof(Thread));
    if (memory == nullptr) {
        error = ENOMEM;
        return nullptr;
    }
    Thread* const thread = new (memory) Thread;
    {
        const Lock lock(state_mutex);
        thread->number = thread_count++;
    }
    error = open_files(*thread);
    if (error == 0)
        return thread;
    if (error == ENOMEM) {
        const Lock lock(state_mutex);
        if (thread_count == thread->number + 1)
            --thread_count; // it will try again with its next call
    }
    destroy(thread);
    return nullptr;
}

// With the next number that is free. Null if memory is short.
Thread* make_thread()
{
    int error = EEXIST;
    Thread* thread = nullptr;
    while (error == EEXIST)
        thread = make_thread(error);
    return thread;
}

Thread* begin_new_thread()
{
    Thread* const thread = make_thread();
    const Lock lock(state_mutex);
    if (thread != nullptr)
        begin_thread(thread);
    return thread;
}

Thread* add_this_thread()
{
    Thread* thread = go_on_with_ended_thread();
    if (thread == nullptr)
        thread = begin_new_thread();
    if (thread == nullptr)
        return nullptr;
    find_stack(*thread);
    thread->sites.open(settings.call_sites, thread->stack_begin, thread->stack_end);
    thread->signal_stack = provide_signal_stack(thread->stack_size());
    if (has_thread_end_key)
        pthread_setspecific(thread_end_key, thread);
    thread->counters.open(thread->writer, thread->clock);
    return thread;
}

} // namespace

void lose_calls(Thread& thread, int first)
{
    TraceWriter& writer = thread.writer;
    const int state_depth = thread.calls[first].state_depth;
    const int64_t now = end_of_lost(thread, first);
    hold_for_calls(thread, first);
    for (int depth = writer.depth(); thread.sums != nullptr && depth > state_depth; --depth) {
        const OpenState& state = writer.open_state(depth);
        thread.sums->lose(state.form()->name, depth - 1, state.begin(), now);
    }
    if (keeps_states)
        writer.give_up_states(state_depth, now);
    else
        writer.forget_states(state_depth);
    thread.depth = thread.calls[first].depth;
    thread.call_count = first;
    if (first == 0 && __atomic_load_n(&thread.holders, __ATOMIC_ACQUIRE) == 1) {
        thread.handles.take_back();
        thread.statuses.take_back();
    }
}

void end_elsewhere(Thread* thread, int number, void* place, int64_t end)
{
    const void* const own = place;
    thread->ends_elsewhere[number] = end;
    if (__atomic_compare_exchange_n(&thread->calls[number].place, &place, nullptr, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return;
    thread->ends_elsewhere[number] = 0;
    let_go(*thread, own);
}

void let_go(Thread& thread, const void* place)
{
    if (!thread.is_on_stack(place))
        drop_hold(&thread);
}

void drop_hold(Thread* thread)
{
    if (__atomic_sub_fetch(&thread->holders, 1, __ATOMIC_ACQ_REL) == 0)
        destroy(thread);
}

Thread* make_stand_in()
{
    alignas(Thread) static char spare[sizeof(Thread)];
    void* const memory = own_calloc(1, sizeof(Thread));
    if (memory != nullptr)
        return new (memory) Thread;
    Thread* const thread = new (spare) Thread;
    thread->holders = INT_MAX / 2; // never freed
    return thread;
}

#ifndef __x86_64__
[[gnu::noinline]] Thread* thread_of_now()
{
    return current_thread;
}
#endif

void find_stack(Thread& thread)
{
    thread.stack_begin = thread.stack_end = nullptr;
    thread.stack_base = 0;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    void* begin = nullptr;
    size_t size = 0;
    if (pthread_attr_getstack(&attributes, &begin, &size) == 0) {
        thread.stack_begin = begin;
        thread.stack_end = static_cast<char*>(begin) + size;
    }
    pthread_attr_destroy(&attributes);
    const Frame caller = Frame::of_caller(__builtin_frame_address(0));
    if (thread.is_on_stack(__builtin_frame_address(0)))
        thread.stack_base = outermost_of_callers(caller, reinterpret_cast<uintptr_t>(thread.stack_end));
}

bool Thread::is_called_from_base(const void* frame) const
{
    stack_t current;
    if (sigaltstack(nullptr, &current) == 0 && (current.ss_flags & SS_ONSTACK) != 0)
        return false;
    return stack_base == 0 || stack_base == outermost_of_callers(Frame::of_caller(frame),
                                                                 reinterpret_cast<uintptr_t>(stack_end));
}

void watch_thread_ends()
{
    has_thread_end_key = pthread_key_create(&thread_end_key, end_thread) == 0;
    if (!has_thread_end_key)
        Diagnostic(incomplete_trace)
            .text("the program has used up all keys for what threads keep: "
                  "traces of threads that end are only closed when it ends");
}

Thread* add_thread()
{
    // Not to be cancelled in files of ours, nor interrupted by a handler whose calls would make it known,
    // too.
    const Undisturbed undisturbed;
    if (current_thread != nullptr || has_ended || is_added_now)
        return current_thread;
    is_added_now = true;
    Thread* const thread = add_this_thread();
    is_added_now = false;
    return current_thread = thread;
}

bool is_being_added()
{
    return is_added_now;
}

Thread* add_trace_of_ours(const char* name)
{
    Thread* const thread = make_thread();
    if (thread == nullptr)
        return nullptr;
    thread->tid = gettid();
    thread->begin = thread->clock.now();
    thread->name = name;
    const Lock lock(state_mutex);
    push(threads, thread);
    return thread;
}

void flush(Thread& thread)
{
    if (thread.sums != nullptr)
        thread.sums->save(thread.writer);
    if (keeps_states)
        thread.writer.flush();
}

void save_traces()
{
    for (Thread* thread = threads; thread != nullptr; thread = thread->next) {
        if (thread->sums != nullptr)
            thread->sums->save(thread->writer);
        if (keeps_states)
            thread->writer.save();
    }
}

void close_traces()
{
    for (Thread* thread = threads; thread != nullptr; thread = thread->next) {
        describe_end_of(*thread);
        all_counts.take(thread->counts);
        close_trace(*thread);
    }
    for (Thread* thread = ended_threads; thread != nullptr; thread = thread->next)
        close_trace(*thread);
    all_counts.describe();
}

void forget_threads()
{
    for (Thread* thread = threads; thread != nullptr; thread = thread->next) {
        thread->counters.forget();
        thread->watchpoints.forget();
    }
    current_thread = nullptr;
    threads = nullptr;
    ended_threads = nullptr;
}

} // namespace hdtrace::mpi
