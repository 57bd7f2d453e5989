#include "mpiwrapper/runtime/recording/life_cycle.h"

#include "hdtrace/writer/file_name.h"
#include "hdtrace/writer/output_file.h"
#include "mpiwrapper/runtime/launcher.h"
#include "mpiwrapper/runtime/library/real.h"
#include "mpiwrapper/runtime/objects/requests.h"
#include "mpiwrapper/runtime/process/diagnostic.h"
#include "mpiwrapper/runtime/process/flush_thread.h"
#include "mpiwrapper/runtime/process/former_program.h"
#include "mpiwrapper/runtime/process/signals.h"

#include <errno.h>
#include <limits.h>
#include <new>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hdtrace::mpi {

Gate gate;
__thread Thread* current_thread = nullptr;

namespace {

enum class State {
    waiting,      // MPI is not initialised
    initialising, // MPI_Init runs
    running,
    off // stopped, or never to be started
};

pthread_mutex_t mutex = HDTRACE_MUTEX_INITIALIZER; // for what follows; signal handlers lock it too
State state = State::waiting;
Thread* threads = nullptr;
int thread_count = 0;
bool has_warned = false;

pthread_key_t thread_end_key;
InfoWriter* info = nullptr; // never destroyed: other destructors of the program may still call MPI
char host[HOST_NAME_MAX + 1] = "localhost";
int64_t base_second = 0;
const char* base_name = "";
const char* world_label = ""; // only of spawned processes
const char* world_name = "W"; // with the label
const char* path_prefix = ""; // "<directory>/<base>_<host>_<rank>_"
int world_rank_of_process = 0;
pid_t traced_process = 0;

State current_state()
{
    return static_cast<State>(__atomic_load_n(reinterpret_cast<int*>(&state), __ATOMIC_ACQUIRE));
}

void set_state(State next)
{
    __atomic_store_n(reinterpret_cast<int*>(&state), static_cast<int>(next), __ATOMIC_RELEASE);
}

void set_gate(int record_depth, int tracking_depth)
{
    __atomic_store_n(&gate.record_depth, record_depth, __ATOMIC_RELAXED);
    __atomic_store_n(&gate.tracking_depth, tracking_depth, __ATOMIC_RELAXED);
}

int depth_of_calls()
{
    return settings.nested ? TraceWriter::max_depth : 1;
}

void warn(const char* path, int error)
{
    if (__atomic_test_and_set(&has_warned, __ATOMIC_RELAXED))
        return;
    const char* const reason = strerrordesc_np(error);
    Diagnostic(incomplete_trace)
        .text("cannot write ")
        .text(path)
        .text(": ")
        .text(reason != nullptr ? reason : "unknown error")
        .text("; the program goes on without its trace");
}

const char* program_path()
{
    static char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    return path;
}

// Spawned processes have a world of their own, in which ranks start from 0 again: their launcher numbers the
// worlds.
void find_world()
{
    MPI_Comm parent = MPI_COMM_NULL;
    real.MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        return;
    const char* const job = pmix_namespace();
    char* end = nullptr;
    const unsigned long number = job != nullptr ? strtoul(job, &end, 10) : 0;
    TextBuffer name;
    name.text("W");
    if (job == nullptr)
        name.text("spawned");
    else if (*end == '\0')
        name.number(static_cast<int64_t>(number & 0xFFFF)); // Open MPI: the number within the mpirun
    else
        append_file_label(name, job);
    const char* const copy = strdup(name.c_string());
    world_name = copy != nullptr ? copy : "Wspawned";
    world_label = world_name + 1;
}

// The first part of file names: the program's name, and what tells this process from others of that name and
// rank: its world, and a number where such processes live.
void append_base_name(TextBuffer& out, int number)
{
    out.string(*settings.name != '\0' ? settings.name : program_invocation_short_name);
    if (*world_label != '\0')
        out.text("-world").string(world_label);
    if (number > 1)
        out.text("-").number(number);
}

const char* name_of_thread_level(int level)
{
    return level == MPI_THREAD_SINGLE       ? "MPI_THREAD_SINGLE"
           : level == MPI_THREAD_FUNNELED   ? "MPI_THREAD_FUNNELED"
           : level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                                            : "MPI_THREAD_MULTIPLE";
}

void write_process_line(int rank, int size, int thread_level)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    real.MPI_Get_library_version(version, &length);
    version[strcspn(version, "\r\n")] = '\0';

    TextBuffer line;
    line.text("Process base='").info_escaped(base_name).text("' host='").info_escaped(host);
    line.text("' rank=").number(rank).text(" size=").number(size).text(" thread=0 version=1 timeAdjustment=");
    line.number(base_second).text(" pid=").number(getpid());
    line.text(" program='").info_escaped(program_path()).text("' mpi='").info_escaped(version);
    line.text("' threadLevel='")
        .string(name_of_thread_level(thread_level))
        .text("' world='")
        .string(world_uid());
    const char* const run = name_of_run();
    if (*run != '\0')
        line.text("' run='").info_escaped(run);
    line.text("'\n");
    write_info(line);
}

// With its parents, as far as they are missing. Other processes of the program may do the same at the same
// time.
void make_directory(const char* path)
{
    char partial[PATH_MAX];
    int error = 0;
    const char* end = path;
    do {
        end = strchrnul(end + 1, '/');
        const size_t length = static_cast<size_t>(end - path);
        if (length >= sizeof partial) {
            error = ENAMETOOLONG;
            break;
        }
        memcpy(partial, path, length);
        partial[length] = '\0';
        error = mkdir(partial, 0777) != 0 && errno != EEXIST ? errno : 0;
    } while (*end != '\0');
    if (error != 0)
        warn(path, error);
}

void append_path_prefix(TextBuffer& out, const char* directory, TextBuffer& base, int rank)
{
    out.string(directory).text("/");
    append_file_label(out, base.c_string());
    out.text("_");
    append_file_label(out, host);
    out.text("_").number(rank).text("_");
}

// Takes these names, also if nothing can be written there. EBUSY if they belong to a living process, ENOMEM
// if memory is short.
int open_info_as(TextBuffer& base, TextBuffer& prefix)
{
    TextBuffer path;
    path.string(prefix.c_string()).text("0.info");
    const bool is_known = !base.bad() && !prefix.bad() && !path.bad();
    if (is_known && is_from_former_program(path.c_string()))
        return EBUSY;
    char* const kept_base = strdup(base.c_string());
    char* const kept_prefix = strdup(prefix.c_string());
    const int error =
        is_known && kept_base != nullptr && kept_prefix != nullptr ? info->open(path.c_string()) : ENOMEM;
    if (error == EBUSY || error == ENOMEM) {
        free(kept_base);
        free(kept_prefix);
        return error;
    }
    base_name = kept_base;
    path_prefix = kept_prefix;
    if (error != 0)
        warn(path.c_string(), error);
    return 0;
}

// False if there is no memory for the files' names. Those that belong to a living process are left alone.
bool open_info(int rank)
{
    // The program may change its directory later.
    char place[PATH_MAX];
    const char* const directory = realpath(settings.directory, place) != nullptr ? place : settings.directory;
    static char memory[sizeof(InfoWriter)] __attribute__((aligned(alignof(InfoWriter))));
    info = new (memory) InfoWriter;
    constexpr int most_names = 9999;
    int error = EBUSY;
    for (int number = 1; error == EBUSY && number <= most_names; ++number) {
        TextBuffer base, prefix;
        append_base_name(base, number);
        append_path_prefix(prefix, directory, base, rank);
        error = open_info_as(base, prefix);
        if (error == 0 && number > 1)
            Diagnostic(incomplete_trace)
                .text(
                    "a program of the same name, host and rank is still running; the files of this one are ")
                .text(path_prefix)
                .text("*");
    }
    if (error != 0)
        warn(directory, error);
    return error == 0;
}

// False without memory for it: then the thread's calls cannot even be counted.
void warn_if_not_compressed(const TraceWriter& writer)
{
    if (strcmp(settings.compress, "none") != 0 && !writer.is_compressed())
        Diagnostic(warnings)
            .text("HDTRACE_COMPRESS='")
            .text(settings.compress)
            .text("' is ignored: expected none, or gzip where there is libz, or zstd where there is libzstd");
}

bool open_trace(Thread& thread)
{
    TextBuffer path, attributes;
    path.string(path_prefix).number(thread.number).text(".trc");
    attributes.text("rank='")
        .number(world_rank_of_process)
        .text("' thread='")
        .number(thread.number)
        .text("'");
    TraceSettings trace_settings;
    trace_settings.buffer_size = static_cast<size_t>(settings.buffer_size);
    trace_settings.force_flush = settings.force_flush;
    trace_settings.on_error = warn;
    const int error =
        path.bad() || attributes.bad()
            ? ENOMEM
            : thread.writer.open(path.c_string(), attributes.c_string(), base_second, trace_settings, info);
    if (error != 0)
        warn(path.c_string(), error);
    else
        Diagnostic(everything).text("writing ").text(path.c_string());
    if (thread.number == 0) {
        warn_if_not_compressed(thread.writer);
    } else {
        TextBuffer line;
        write_info(line.text("Thread number=").number(thread.number).text("\n"));
    }
    return error != ENOMEM;
}

void close_trace(Thread& thread)
{
    thread.writer.close();
    const int64_t dropped = thread.writer.dropped_states();
    const int64_t written = thread.writer.states() - dropped;
    char line[128];
    char* end = put_number(put_text(line, "End thread="), thread.number);
    end = put_number(put_text(end, " states="), written);
    end = put_text(put_number(put_text(end, " dropped="), dropped), "\n");
    info->write(line, static_cast<size_t>(end - line));
    Diagnostic(results)
        .text(path_prefix)
        .number(thread.number)
        .text(".trc holds ")
        .number(written)
        .text(" states");
}

void destroy(Thread* thread)
{
    thread->~Thread();
    free(thread);
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

// A thread of the program ended.
void end_thread(void* data)
{
    Thread* const thread = static_cast<Thread*>(data);
    current_thread = nullptr;
    const Lock lock(mutex);
    if (!leave_list(thread))
        return;
    if (current_state() == State::running)
        close_trace(*thread);
    if (gettid() == getpid())
        main_thread_left();
    take_back_signal_stack(thread->signal_stack);
    destroy(thread);
}

// After fork() the parent's files are none of the child's business.
void become_untraced()
{
    current_thread = nullptr;
    threads = nullptr;
    set_gate(0, 0);
    set_state(State::off);
}

void find_stack(Thread& thread)
{
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
}

Thread* add_thread()
{
    void* const memory = calloc(1, sizeof(Thread));
    if (memory == nullptr)
        return nullptr;
    Thread* const thread = new (memory) Thread;
    {
        const Lock lock(mutex);
        thread->number = thread_count++;
    }
    if (!open_trace(*thread)) {
        const Lock lock(mutex);
        if (thread_count == thread->number + 1)
            --thread_count; // it will try again with its next call
        destroy(thread);
        return nullptr;
    }
    {
        const Lock lock(mutex);
        thread->next = threads;
        threads = thread;
    }
    find_stack(*thread);
    thread->signal_stack = provide_signal_stack();
    pthread_setspecific(thread_end_key, thread);
    return current_thread = thread;
}

// Not in the child of vfork(), which has our memory.
bool is_ours()
{
    return current_state() == State::running && getpid() == traced_process;
}

// Started by hdtrace-run for another process, which started this one.
bool is_meant_for_another_process()
{
    const char* const meant = getenv("HDTRACE_PID");
    return meant != nullptr && !settings.follow && atol(meant) != getpid();
}

// What this program starts shall not be traced, unless asked.
void leave_preload_list()
{
    constexpr const char* own_name = "libHDTraceMPIWrapper";
    const char* const list = getenv("LD_PRELOAD");
    if (list == nullptr || settings.follow)
        return;
    TextBuffer rest;
    for (const char *part = list, *end; *part != '\0'; part = end) {
        end = part + strcspn(part, ": ");
        const size_t length = static_cast<size_t>(end - part);
        if (length > 0 && memmem(part, length, own_name, strlen(own_name)) == nullptr) {
            if (rest.size() > 0)
                rest.text(":");
            rest.bytes(part, length);
        }
        end += strspn(end, ": ");
    }
    if (rest.size() > 0)
        setenv("LD_PRELOAD", rest.c_string(), 1);
    else
        unsetenv("LD_PRELOAD");
}

// The rest of start(), for all ways to begin.
void start_in(MPI_Group world, int thread_level, bool has_world_communicator)
{
    {
        const Lock lock(mutex);
        if (current_state() == State::running || current_state() == State::off)
            return;
        if (base_second == 0)
            base_second = Clock().now() / nanoseconds_per_second;
        if (gethostname(host, sizeof host) != 0)
            strcpy(host, "localhost");
        host[sizeof host - 1] = '\0';
        int size = 0;
        real.MPI_Group_rank(world, &world_rank_of_process);
        real.MPI_Group_size(world, &size);
        if (has_world_communicator)
            find_world();
        make_directory(settings.directory);
        if (!open_info(world_rank_of_process)) {
            set_state(State::off);
            return;
        }
        write_process_line(world_rank_of_process, size, thread_level);
        pthread_key_create(&thread_end_key, end_thread);
        pthread_atfork(nullptr, nullptr, become_untraced);
        at_quick_exit(stop);
        if (thread_level == MPI_THREAD_MULTIPLE)
            set_requests_shared_by_threads();
        start_communicators(world, has_world_communicator ? world_uid() : nullptr);
        start_datatypes();
        leave_preload_list();
        watch_fatal_signals();
        __atomic_store_n(&gate.level, settings.all_functions, __ATOMIC_RELAXED);
        set_gate(depth_of_calls(), depth_of_calls());
        info->flush(); // so it is there whatever happens
        traced_process = getpid();
        set_state(State::running);
        start_flush_thread(settings.flush_seconds, save_all_threads);
    }
    if (current_thread == nullptr)
        add_thread();
}

void refuse_foreign_library()
{
    const char* const library = foreign_mpi_library();
    if (library == nullptr || current_state() != State::waiting)
        return;
    set_state(State::off);
    leave_preload_list();
    if (is_first_rank())
        Diagnostic(incomplete_trace)
            .text("the program uses ")
            .text(library)
            .text(", but this wrapper is built for " HDTRACE_MPI_LIBRARY "; it runs untraced");
}

__attribute__((constructor)) void loaded()
{
    read_settings();
    if (is_meant_for_another_process()) {
        leave_preload_list();
        set_state(State::off);
    }
}

__attribute__((destructor)) void unloaded()
{
    stop();
}

} // namespace

Scratch::~Scratch()
{
    free(m_memory);
}

void* Scratch::take(size_t size)
{
    if (m_is_taken)
        return malloc(size);
    m_is_taken = true;
    if (size > m_size) {
        free(m_memory);
        m_size = 2 * size;
        m_memory = malloc(m_size);
        if (m_memory == nullptr)
            m_size = 0;
    }
    return m_memory;
}

void Scratch::give_back(void* memory)
{
    if (memory == m_memory)
        m_is_taken = false;
    else
        free(memory);
}

Thread* enter_thread()
{
    resolve_real_functions();
    refuse_foreign_library();
    if (current_state() == State::waiting) {
        // MPI may have been initialised past us, or the program asks for something that is allowed before.
        int initialised = 0, finalised = 0, level = MPI_THREAD_SINGLE;
        real.MPI_Initialized(&initialised);
        if (!initialised)
            return nullptr;
        real.MPI_Finalized(&finalised);
        if (finalised)
            return nullptr;
        real.MPI_Query_thread(&level);
        start(level);
    }
    return current_state() == State::running ? (current_thread != nullptr ? current_thread : add_thread())
                                             : nullptr;
}

void lose_calls(Thread& thread, int first)
{
    thread.writer.give_up_states(thread.calls[first].state_depth, thread.clock.now());
    thread.depth = thread.calls[first].depth;
    thread.call_count = first;
    if (first == 0) {
        thread.handles.take_away();
        thread.statuses.take_away();
    }
}

void begin_init()
{
    resolve_real_functions();
    refuse_foreign_library();
    if (current_state() != State::waiting)
        return;
    set_state(State::initialising);
    make_room_for_descriptors();
    base_second = Clock().now() / nanoseconds_per_second;
}

void init_failed()
{
    if (current_state() == State::initialising)
        set_state(State::waiting);
}

void start(int thread_level)
{
    if (current_state() == State::running || current_state() == State::off)
        return;
    MPI_Group world;
    real.MPI_Comm_group(MPI_COMM_WORLD, &world);
    start_in(world, thread_level, true);
}

#if MPI_VERSION >= 4
void start_from_session(MPI_Session session)
{
    MPI_Group world;
    if (current_state() == State::running || current_state() == State::off ||
        real.MPI_Group_from_session_pset(session, "mpi://WORLD", &world) != MPI_SUCCESS)
        return;
    start_in(world, MPI_THREAD_MULTIPLE, false); // sessions may have different levels
}
#endif

void pause_recording()
{
    if (current_state() == State::running)
        set_gate(0, depth_of_calls());
}

void resume_recording()
{
    if (current_state() == State::running)
        set_gate(depth_of_calls(), depth_of_calls());
}

void flush_own_trace()
{
    if (current_thread == nullptr)
        return;
    info->flush();
    current_thread->writer.flush();
}

void save_all_threads()
{
    if (!is_ours())
        return;
    const Lock lock(mutex);
    if (!lock.held())
        return;
    for (Thread* thread = threads; thread != nullptr; thread = thread->next)
        thread->writer.save();
    info->flush();
}

void stop()
{
    // Looked at before the lock: in a child of fork() nobody may be left to unlock it.
    if (!is_ours())
        return;
    const Lock lock(mutex);
    if (!lock.held() || current_state() != State::running)
        return;
    set_state(State::off);
    set_gate(0, 0);
    for (Thread* thread = threads; thread != nullptr; thread = thread->next)
        close_trace(*thread);
    info->close();
    stop_flush_thread();
}

void write_info(const TextBuffer& lines)
{
    info->write(lines);
}

int64_t time_base()
{
    return base_second * nanoseconds_per_second;
}

const char* host_name()
{
    return host;
}

const char* world_uid()
{
    return world_name;
}

} // namespace hdtrace::mpi
