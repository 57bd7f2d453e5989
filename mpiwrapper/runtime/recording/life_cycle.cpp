#include "mpiwrapper/runtime/recording/life_cycle.h"

#include "hdtrace/include/hdTrace.h"

#include "hdtrace/writer/descriptor.h"
#include "hdtrace/writer/undisturbed.h"
#include "mpiwrapper/launcher/job.h"
#include "mpiwrapper/runtime/buffers/active_buffers.h"
#include "mpiwrapper/runtime/counters/process_counters.h"
#include "mpiwrapper/runtime/counters/selection.h"
#include "mpiwrapper/runtime/library/real.h"
#include "mpiwrapper/runtime/objects/requests.h"
#include "mpiwrapper/runtime/process/diagnostic.h"
#include "mpiwrapper/runtime/process/fatal_errors.h"
#include "mpiwrapper/runtime/process/flush_thread.h"
#include "mpiwrapper/runtime/process/identity.h"
#include "mpiwrapper/runtime/process/info_sink.h"
#include "mpiwrapper/runtime/process/preload.h"
#include "mpiwrapper/runtime/process/process_line.h"
#include "mpiwrapper/runtime/process/run_lines.h"
#include "mpiwrapper/runtime/process/settings.h"
#include "mpiwrapper/runtime/process/signals.h"
#include "mpiwrapper/runtime/process/trace_place.h"
#include "mpiwrapper/runtime/recording/bounds.h"
#include "mpiwrapper/runtime/recording/life_lines.h"
#include "mpiwrapper/runtime/recording/rules.h"
#include "mpiwrapper/runtime/recording/state.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <optional>

namespace hdtrace::mpi {

namespace {

pid_t traced_process = 0;
/// What calls of MPI are that the running process still records.
enum class Stage { inside, before, after };
Stage stage = Stage::inside;

/// How far the end is for which calls that begin wait.
enum class End {
    none,
    begins,  ///< or did not come; the gate is being closed or opened again
    is_late, ///< saves for so long that nobody waits for it any more
    saves,   ///< which takes its time
    is_to_come
};
End end_of_process = End::none; // atomic
pid_t saver = 0;                // for the end; atomic
/// What the gate is to be again if the process does not end.
struct GateDepths {
    int record_depth = 0;
    int tracking_depth = 0;
};
GateDepths held_gate;

End coming_end()
{
    return __atomic_load_n(&end_of_process, __ATOMIC_ACQUIRE);
}

void set_end(End end)
{
    __atomic_store_n(&end_of_process, end, __ATOMIC_RELEASE);
}

/// For one thread only.
bool is_end_changed(End from, End to)
{
    return __atomic_compare_exchange_n(&end_of_process, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

int depth_of_calls()
{
    static_assert(HD_LOG_MAX_DEPTH <= TraceWriter::max_depth);
    return settings.nested ? HD_LOG_MAX_DEPTH : 1;
}

// What was opened for calls before MPI_Init goes on with it.
bool has_been_started()
{
    return stage != Stage::before && (current_state() == State::running || current_state() == State::off);
}

// Not in the child of vfork(), which has our memory.
bool is_ours()
{
    return current_state() == State::running && getpid() == traced_process;
}

// In a child of fork(), where nobody is left who may have locked the mutex.
void become_untraced()
{
    static constexpr pthread_mutex_t free_mutex = HDTRACE_MUTEX_INITIALIZER;
    state_mutex = free_mutex;
    forget_threads();
    set_gate(0, 0);
    set_state(State::off);
    set_end(End::none);
}

// The process did not end for which calls have waited. Meanwhile MPI may have been finalized.
void release_calls()
{
    if (current_state() == State::running && stage == Stage::inside)
        set_gate(held_gate.record_depth, held_gate.tracking_depth);
    set_end(End::none);
}

void hold_calls()
{
    if (!is_ours() || gate.record_depth == 0 || !is_end_changed(End::none, End::begins))
        return;
    held_gate = {gate.record_depth, gate.tracking_depth};
    __atomic_store_n(&saver, gettid(), __ATOMIC_RELAXED);
    set_end(End::saves);
    set_gate(0, held_gate.tracking_depth);
}

// Who calls it is a handler that has interrupted the saving.
bool is_saving_for_end()
{
    return coming_end() == End::saves && __atomic_load_n(&saver, __ATOMIC_RELAXED) == gettid();
}

// Of calls that are held, for later.
void set_record_depth(int depth)
{
    if (coming_end() >= End::is_late)
        held_gate.record_depth = depth;
    else
        set_gate(depth, depth_of_calls());
}

void start_objects(MPI_Group world, bool has_world_communicator, int thread_level)
{
    if (thread_level == MPI_THREAD_MULTIPLE) {
        set_requests_shared_by_threads();
        set_buffers_shared_by_threads();
    }
    start_communicators(world, has_world_communicator ? this_process().world_uid : nullptr);
    start_datatypes();
}

// So that nothing is lost however threads and the process end.
void watch_ends()
{
    watch_thread_ends();
    pthread_atfork(nullptr, nullptr, become_untraced);
    watch_fatal_signals(save_before_end, save_before_signal);
}

void open_gate()
{
    const bool is_watched = settings.cpu_time || ThreadCounters::are_wanted();
    const Recording recorded =
        Recording::plain | (keeps_sums ? Recording::summed : Recording::none) |
        (is_watched ? Recording::watched : Recording::none) |
        (settings.for_check ? Recording::checked | Recording::successes : Recording::none);
    set_recording(settings.all_functions, recorded);
    apply_rules(recorded);
    set_gate(depth_of_calls(), depth_of_calls());
}

void say_that_it_is_alone()
{
    if (is_alone_beside_others() && is_first_of_launcher())
        Diagnostic(incomplete_trace)
            .text("the launcher has started ")
            .number(processes_of_launcher())
            .text(" processes, but each is alone in its MPI_COMM_WORLD: ")
            .text("it is a launcher of another MPI library than " HDTRACE_MPI_LIBRARY);
}

// For the process whose identity is known. False if it cannot be, and the process stays untraced.
bool open_trace(std::optional<int> thread_level)
{
    if (!open_trace_place()) {
        set_state(State::off);
        return false;
    }
    say_wrong_variables();
    say_what_sums_ignore();
    say_that_it_is_alone();
    describe_process(thread_level);
    describe_run();
    describe_cpu_time();
    leave_preload_list();
    watch_ends();
    note_trace();
    traced_process = getpid();
    return true;
}

bool open_trace_in(MPI_Group world, int thread_level, bool has_world_communicator)
{
    if (!has_start_time())
        start_time();
    find_identity(world, has_world_communicator);
    return open_trace(thread_level);
}

// The rest of start(), for all ways to begin.
void start_in(MPI_Group world, int thread_level, bool has_world_communicator)
{
    {
        const Lock lock(state_mutex);
        if (has_been_started())
            return;
        if (stage != Stage::before && !open_trace_in(world, thread_level, has_world_communicator))
            return;
        stage = Stage::inside;
        select_counters(is_first_on_host());
        start_objects(world, has_world_communicator, thread_level);
        open_gate();
        info_file().flush(); // so it is there whatever happens
        set_state(State::running);
    }
    if (current_thread == nullptr)
        add_thread();
    if (current_thread != nullptr)
        start_process_counters();
    const int64_t flush_interval =
        settings.for_check ? flush_interval_for_check : settings.flush_seconds * nanoseconds_per_second;
    const Duty duties[] = {{flush_interval, save_all_threads},
                           {process_counter_interval(), sample_process_counters}};
    if (!start_flush_thread(continue_process_counters, duties))
        continue_process_counters();
}

// The program carries a tracer inside, and we were preloaded behind it. Another library of ours may have
// loaded us.
bool another_tracer_comes_first()
{
    Dl_info first, own;
    if (dladdr(dlsym(RTLD_DEFAULT, "hdR_tracer"), &first) == 0 || dladdr(&traced_process, &own) == 0)
        return false;
    return first.dli_fbase != own.dli_fbase && strstr(first.dli_fname, "/libHDTraceMPIWrapper") == nullptr;
}

// Comes before anything else is done in the program.
void refuse_what_is_not_traced()
{
    if (current_state() != State::waiting)
        return;
    if (has_rights_of_others() || another_tracer_comes_first() || is_behind_program()) {
        set_state(State::off);
        return;
    }
    const char* const library = foreign_mpi_library();
    if (library == nullptr)
        return;
    set_state(State::off);
    leave_preload_list();
    if (is_first_rank())
        Diagnostic(incomplete_trace)
            .text("the program uses ")
            .text(library)
            .text(", but this wrapper is built for " HDTRACE_MPI_LIBRARY "; it runs untraced");
}

// MPI may have been initialised past us, or the program asks for something that is allowed before.
void start_if_initialised()
{
    int initialised = 0, finalised = 0, level = MPI_THREAD_SINGLE;
    real.MPI_Initialized(&initialised);
    if (!initialised)
        return;
    real.MPI_Finalized(&finalised);
    if (finalised)
        return;
    real.MPI_Query_thread(&level);
    start(level);
}

// Calls are let through, and Call::note_outside() hears of them.
void record_only_outside(Stage new_stage)
{
    stage = new_stage;
    set_gate(0, 0);
    set_recording(settings.all_functions, Recording::undecided);
}

// Most MPI libraries end a program that calls it too early, so there may never be another moment to begin.
void start_before_init()
{
    int finalised = 0;
    real.MPI_Finalized(&finalised);
    const Lock lock(state_mutex);
    if (finalised || current_state() != State::waiting || !find_identity_by_launcher())
        return;
    start_time();
    if (!open_trace({}))
        return;
    record_only_outside(Stage::before);
    set_state(State::running);
}

// Functions that the end of the process is still going to call. Which of them comes last depends on how we
// were loaded: the program may call MPI until then.
int ends_to_come = 1;

void end_comes(void*)
{
    if (--ends_to_come == 0)
        stop_at_exit();
}

// Of no library (Itanium C++ ABI, 3.3.5.3): what is known before main() is then called when all libraries
// have had their destructors.
void watch_exit()
{
    if (abi::__cxa_atexit(end_comes, nullptr, nullptr) == 0)
        ++ends_to_come;
    at_quick_exit(stop);
}

__attribute__((constructor)) void loaded()
{
    watch_exit();
    keep_first_standard_error();
    read_settings();
    choose_sums();
    expect_trace();
    if (is_meant_for_another_process()) {
        leave_preload_list();
        set_state(State::off);
    }
}

__attribute__((destructor)) void unloaded()
{
    end_comes(nullptr);
}

} // namespace

Thread* enter_thread(bool is_too_early_before_init)
{
    resolve_real_functions();
    refuse_what_is_not_traced();
    if (current_state() == State::waiting)
        start_if_initialised();
    if (current_state() == State::waiting && is_too_early_before_init && settings.for_check)
        start_before_init();
    if (current_state() != State::running)
        return nullptr;
    return current_thread != nullptr ? current_thread : add_thread();
}

void begin_init()
{
    resolve_real_functions();
    refuse_what_is_not_traced();
    if (stage == Stage::before)
        set_state(State::initialising);
    if (current_state() != State::waiting)
        return;
    set_state(State::initialising);
    make_room_for_descriptors();
    start_time();
}

void init_failed()
{
    if (current_state() == State::initialising)
        set_state(stage == Stage::before ? State::running : State::waiting);
}

void start(int thread_level)
{
    if (has_been_started())
        return;
    MPI_Group world;
    real.MPI_Comm_group(MPI_COMM_WORLD, &world);
    start_in(world, thread_level, true);
    save_before_fatal_errors();
}

#ifdef HDT_HAS_MPI_Session_init
void start_from_session(MPI_Session session)
{
    MPI_Group world;
    if (has_been_started() || real.MPI_Group_from_session_pset(session, "mpi://WORLD", &world) != MPI_SUCCESS)
        return;
    start_in(world, MPI_THREAD_MULTIPLE, false); // sessions may have different levels
}
#endif

bool has_been_traced()
{
    return traced_process != 0;
}

bool is_traced_process()
{
    return getpid() == traced_process;
}

void watch_calls_after_finalize()
{
    describe_cpu_time(); // which tells that all is saved: some programs, as those in Go, end without a word
    save_all_threads();
    record_only_outside(Stage::after);
}

const char* side_of_outside_calls()
{
    if (current_state() != State::running || stage == Stage::inside)
        return nullptr;
    return stage == Stage::before ? "before" : "after";
}

void pause_recording()
{
    if (current_state() == State::running)
        set_record_depth(0);
}

void resume_recording()
{
    if (current_state() == State::running && stage == Stage::inside && !is_limit_reached())
        set_record_depth(depth_of_calls());
}

void flush_own_trace()
{
    if (current_thread == nullptr)
        return;
    info_file().flush();
    flush(*current_thread);
}

void save_all_threads()
{
    if (!is_ours())
        return;
    const ShortWaits in_handlers;
    const Lock lock(state_mutex);
    if (!lock.held())
        return;
    save_traces();
    info_file().flush();
}

bool has_waited_for_end()
{
    constexpr timespec moment = {0, 1'000'000};
    constexpr int longest_save = 10'000, longest_wait = 100; // of these
    if (coming_end() < End::saves || is_saving_for_end())
        return false;
    const int saved_errno = errno;
    for (int saved = 0, waited = 0;
         saved < longest_save && waited < longest_wait && coming_end() >= End::saves;) {
        syscall(SYS_nanosleep, &moment, nullptr); // which cancels no thread
        ++(coming_end() == End::is_to_come ? waited : saved);
    }
    errno = saved_errno;
    if (is_end_changed(End::is_to_come, End::begins))
        release_calls();
    is_end_changed(End::saves, End::is_late);
    return coming_end() != End::is_late;
}

// Other threads may be in calls, which end meanwhile: that is saved by the second time, and the moment that
// is told is behind it.
void save_before_signal(int signal)
{
    const ShortWaits in_handlers;
    save_all_threads();
    if (signal == 0 || !is_ours())
        return;
    save_all_threads();
    describe_signal(signal, Clock().now());
    info_file().flush();
}

void save_before_end(int signal)
{
    hold_calls();
    save_before_signal(signal);
    if (!is_end_changed(End::saves, End::is_to_come))
        is_end_changed(End::is_late, End::is_to_come);
}

void stop()
{
    // Looked at before the lock: in a child of fork() nobody may be left to unlock it.
    if (!is_ours())
        return;
    const Lock lock(state_mutex);
    if (!lock.held() || current_state() != State::running)
        return;
    if (current_thread != nullptr && current_thread->depth == 0)
        current_thread->counters.sample_last();
    sample_process_counters();
    set_state(State::off);
    set_gate(0, 0);
    close_traces();
    describe_cpu_time();
    info_file().close();
    stop_flush_thread();
}

void stop_at_exit()
{
    if (current_state() == State::waiting)
        tell_of_missing_trace();
    stop();
}

} // namespace hdtrace::mpi
