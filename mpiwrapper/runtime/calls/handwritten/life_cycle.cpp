// Where MPI begins and ends for a process.
#include "hdtrace/writer/floating_point.h"
#include "hdtrace/writer/program_memory.h"
#include "mpiwrapper/runtime/calls/call.h"
#include "mpiwrapper/runtime/counters/cpu_time.h"
#include "mpiwrapper/runtime/process/fatal_errors.h"
#include "mpiwrapper/runtime/process/flush_thread.h"
#include "mpiwrapper/runtime/process/settings.h"
#include "mpiwrapper/runtime/recording/rules.h"
#include "mpiwrapper/runtime/regions/events.h"

#include <errno.h>
#include <stdarg.h>

using namespace hdtrace;
using namespace hdtrace::mpi;

namespace {

/// There were some: they may outlive MPI_Finalize (MPI 4.0, 11.3), so that the end of the process is the end
/// of the trace.
bool has_sessions = false;

struct Moment {
    int64_t time = Clock().now();
    int64_t cpu_time = settings.cpu_time ? thread_cpu_time() : 0;
};

/// What MPI_Wtime said at a time, in nanoseconds.
int64_t wtime_at(int64_t time)
{
    PMPI_Wtime(); // some MPI libraries count from the first time that they are asked
    return static_cast<int64_t>(PMPI_Wtime() * nanoseconds_per_second) - (Clock().now() - time);
}

// MPI_Init cannot be a Call: there is nothing to record with before it returns.
template <typename Start, typename PutAttributes>
int finish_init(Function function, const void* frame, int rc, const Moment& begin, const char* name,
                Start start_tracing, PutAttributes put_attributes)
{
    const int64_t cpu_time = settings.cpu_time ? thread_cpu_time() - begin.cpu_time : 0;
    const int64_t end = Clock().now();
    if (rc != MPI_SUCCESS) {
        init_failed();
        return rc;
    }
    const int64_t wtime = with_own_floating_point([=] { return wtime_at(end); });
    start_tracing();
    Thread* const thread = current_thread;
    if (thread == nullptr)
        return rc;
    Recording recording = gate.record_depth > 0 ? gate.recording_of(function) : Recording::none;
    if (recording == Recording::undecided)
        recording = decide(*thread, function);
    thread->counts.add(function, recording);
    if (!has(recording, Recording::plain))
        return rc;
    if (thread->sums != nullptr) {
        thread->sums->add(function, name, thread->sites.find(frame).number, 0, rc, begin.time, end,
                          Figures());
    }
    if (!keeps_states)
        return rc;
    thread->writer.enter();
    write_element(thread->writer, [&](auto& element) {
        element.text("<").name(name);
        put_attributes(element);
        element.text(" wtime='").name(wtime < 0 ? "-" : "").seconds(wtime < 0 ? -wtime : wtime).text("'");
        element.site_and_times(thread->sites.find(frame), begin.time, end);
        if (settings.cpu_time)
            element.written_by(
                [cpu_time](char* out) { return put_cpu_time(put_text(out, " cpu='"), cpu_time); });
        element.end(name);
    });
    return rc;
}

// By MPI_Init; sessions may have come before it.
bool has_begun()
{
    int initialised = 0;
    if (current_thread != nullptr)
        real.MPI_Initialized(&initialised);
    return initialised != 0;
}

// What tracing began with before. MPI libraries refuse a second MPI_Init, most of them by ending the program.
template <typename Init>
int begin_again(Function function, const void* frame, const StateForm& form, Init init)
{
    Call call(function, Tracks::nothing, frame);
    if (call.passes())
        return init();
    call.begin(form);
    const int rc = call.end(init());
    if (call.is_to_be_written()) {
        call.write([&](auto& element) {
            element.text("<").name(form.name);
            call.finish_attributes(element).end(form.name);
        });
    }
    return rc;
}

void start_with_provided_level()
{
    int thread_level = MPI_THREAD_SINGLE;
    real.MPI_Query_thread(&thread_level);
    start(thread_level);
}

// Levels of MPI_Pcontrol that a name follows. Programs that know other tools pass small levels without one.
constexpr int begin_level = 100;
constexpr int end_level = -100;
constexpr int mark_level = 101;

bool names_region(int level)
{
    return level == begin_level || level == end_level || level == mark_level;
}

// The name, or null if there is none: bindings of other languages pass the level only, and what stands in the
// argument's place is anything. The kernel reads there, which no address can hurt.
const char* copy_name(char (&memory)[HD_LONGEST_NAME + 2], const char* name)
{
    constexpr size_t most = sizeof memory - 1; // one that is too long stays too long
    const int saved_errno = errno;
    const long length = copy_string_from_program(memory, name, most);
    errno = saved_errno;
    memory[length > 0 ? length : 0] = '\0';
    return length >= 0 ? memory : nullptr;
}

int pass_level_on(int level, const char* name, const void* frame)
{
    Call call(Function::MPI_Pcontrol, Tracks::operations, frame);
    if (call.passes()) {
        resolve_real_functions();
        return real.MPI_Pcontrol(level, name);
    }
    static constexpr Argument arguments[] = {{Argument::Kind::number, 0, " level='"}};
    static constexpr StateForm form = {"Pcontrol", arguments};
    call.begin(form, [&](OpenState& state) {
        state.start(&form, 1);
        state.set(0, level);
    });
    const int rc = call.end(real.MPI_Pcontrol(level, name));
    if (call.is_to_be_written()) {
        call.write([&](auto& element) {
            element.text("<Pcontrol level='").number(level).text("'");
            call.finish_attributes(element).end("Pcontrol");
        });
    }
    return rc;
}

} // namespace

extern "C" HDT_EXPORT int MPI_Init(int* argc, char*** argv)
{
    static constexpr StateForm again = {"Init"};
    if (has_begun())
        return begin_again(Function::MPI_Init, __builtin_frame_address(0), again,
                           [=] { return real.MPI_Init(argc, argv); });
    begin_init();
    const Moment begin;
    const int rc = real.MPI_Init(argc, argv);
    return finish_init(Function::MPI_Init, __builtin_frame_address(0), rc, begin, "Init",
                       start_with_provided_level, [](auto&) {});
}
HDT_WRAPS(MPI_Init);

extern "C" HDT_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided)
{
    static constexpr StateForm again = {"Init_thread"};
    if (has_begun())
        return begin_again(Function::MPI_Init_thread, __builtin_frame_address(0), again,
                           [=] { return real.MPI_Init_thread(argc, argv, required, provided); });
    begin_init();
    const Moment begin;
    const int rc = real.MPI_Init_thread(argc, argv, required, provided);
    return finish_init(
        Function::MPI_Init_thread, __builtin_frame_address(0), rc, begin, "Init_thread",
        start_with_provided_level, [&](auto& element) {
            element.text(" required='").number(required).text("' provided='").number(*provided).text("'");
        });
}
HDT_WRAPS(MPI_Init_thread);

#ifdef HDT_HAS_MPI_Session_init
extern "C" HDT_EXPORT int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session)
{
    const auto init = [=] {
        const int rc = real.MPI_Session_init(info, errhandler, session);
        if (rc == MPI_SUCCESS)
            __atomic_store_n(&has_sessions, true, __ATOMIC_RELAXED);
        return rc;
    };
    static constexpr StateForm again = {"Session_init"};
    if (current_thread != nullptr)
        return begin_again(Function::MPI_Session_init, __builtin_frame_address(0), again, init);
    begin_init();
    const Moment begin;
    const int rc = init();
    return finish_init(
        Function::MPI_Session_init, __builtin_frame_address(0), rc, begin, "Session_init",
        [&] { start_from_session(*session); }, [](auto&) {});
}
HDT_WRAPS(MPI_Session_init);
#endif

extern "C" HDT_EXPORT int MPI_Finalize()
{
    Call call(Function::MPI_Finalize, Tracks::operations);
    if (call.passes()) {
        resolve_real_functions();
        return real.MPI_Finalize();
    }
    static constexpr StateForm form = {"Finalize"};
    call.begin(form);
    const int rc = call.end(real.MPI_Finalize());
    if (call.is_to_be_written()) {
        call.thread().counters.hurry();
        call.write([&](auto& element) {
            element.text("<Finalize");
            call.finish_attributes(element).end("Finalize");
        });
    }
    if (!call.succeeded())
        return rc;
    if (__atomic_load_n(&has_sessions, __ATOMIC_RELAXED)) {
        save_all_threads();
        return rc;
    }
    if (settings.for_check) {
        watch_calls_after_finalize();
    } else {
        stop();
        call.thread().counters.close();
    }
    end_flush_thread(); // programs may do what only those with one thread can, such as unshare()
    return rc;
}
HDT_WRAPS(MPI_Finalize);

extern "C" HDT_EXPORT int MPI_Abort(MPI_Comm comm, int errorcode)
{
    Call call(Function::MPI_Abort, Tracks::operations);
    if (call.passes()) {
        resolve_real_functions();
        stop(); // also from inside another call
        return real.MPI_Abort(comm, errorcode);
    }
    // It does not return, so it ends for the trace where it begins.
    static constexpr StateForm form = {"Abort"};
    call.begin(form);
    if (call.is_recorded()) {
        const int64_t cid = call.comm(comm).id;
        call.end(MPI_SUCCESS);
        const auto get_figures = [cid] {
            Figures figures;
            figures.communicator = cid;
            return figures;
        };
        if (call.is_to_be_written(get_figures)) {
            call.write([&](auto& element) {
                element.text("<Abort cid='").number(cid).text("' errorcode='").number(errorcode).text("'");
                call.finish_attributes(element).end("Abort");
            });
        }
    }
    stop();
    let_others_save();
    return real.MPI_Abort(comm, errorcode);
}
HDT_WRAPS(MPI_Abort);

extern "C" HDT_EXPORT int MPI_Pcontrol(const int level, ...)
{
    char memory[HD_LONGEST_NAME + 2];
    const char* name = nullptr;
    if (names_region(level)) {
        va_list arguments;
        va_start(arguments, level);
        name = copy_name(memory, va_arg(arguments, const char*));
        va_end(arguments);
    }
    hdRegion region = {nullptr, name, nullptr, 0, 0, nullptr};
    const void* const frame = __builtin_frame_address(0);
    if (level == 1)
        resume_recording();
    if (level == end_level)
        end_region(&region, frame);
    const int rc = pass_level_on(level, name, frame);
    if (level == 0)
        pause_recording();
    else if (level == 2)
        flush_own_trace();
    else if (level == begin_level)
        begin_region(region, frame);
    else if (level == mark_level)
        mark(region, nullptr, frame);
    return rc;
}
HDT_WRAPS(MPI_Pcontrol);
