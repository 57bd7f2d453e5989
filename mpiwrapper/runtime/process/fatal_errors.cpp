#include "mpiwrapper/runtime/process/fatal_errors.h"

#include "mpiwrapper/runtime/calls/call.h"
#include "mpiwrapper/runtime/calls/constants.h"
#include "mpiwrapper/runtime/library/real.h"
#include "mpiwrapper/runtime/process/settings.h"
#include "mpiwrapper/runtime/recording/life_cycle.h"
#include "mpiwrapper/runtime/recording/thread.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#ifdef MPICH_NUMVERSION
// How MPICH's functions end that have failed; for its bindings it is no secret. @p comm is null for
// MPI_COMM_WORLD. The message names @p function, and the launcher is told which exit code the run has:
// MPI_Comm_call_errhandler names itself, and leaves the launcher to kill the others and to take the exit code
// of one of them.
extern "C" int MPIR_Err_return_comm(void* comm, const char* function, int error) __attribute__((weak));
#endif

namespace hdtrace::mpi {

namespace {

MPI_Errhandler comm_handler = MPI_ERRHANDLER_NULL;
MPI_Errhandler window_handler = MPI_ERRHANDLER_NULL;
MPI_Errhandler file_handler = MPI_ERRHANDLER_NULL;
long told_in_place_of_own = 0; // and not freed until now; atomic

void save(int error)
{
    if (current_thread != nullptr && current_thread->writer.depth() > 0)
        current_thread->writer.fail_state(error_class_name(error));
    save_all_threads();
    let_others_save();
}

// The error of a communicator, a window or a file; the others are null.
struct FatalError {
    int error;
    MPI_Comm comm;
    MPI_Win window;
    MPI_File file;
    Function function = Function::count; ///< which failed, or called what failed; if it is known
};
__thread FatalError put_off = {MPI_SUCCESS, MPI_COMM_NULL, MPI_WIN_NULL, MPI_FILE_NULL};

#ifdef MPICH_NUMVERSION
// What MPICH calls the function that failed: its stack of the error begins with it, "Invalid rank, error
// stack:\ninternal_Send(120): ...". Errors that are told in statuses have none. Empty if nobody knows.
void name_failed_function(const FatalError& fatal, char (&name)[MPI_MAX_ERROR_STRING])
{
    constexpr char title[] = "error stack:\n";
    int length = 0;
    real.MPI_Error_string(fatal.error, name, &length);
    const char* const stack = strstr(name, title);
    if (stack != nullptr) {
        const char* const first = stack + strlen(title);
        const size_t size = strcspn(first, "(");
        memmove(name, first, size);
        name[size] = '\0';
    } else if (fatal.function != Function::count) {
        const char* const called = ruled_functions()[static_cast<size_t>(fatal.function)].name;
        snprintf(name, sizeof name, "internal_%s", called + strlen("MPI_"));
    } else {
        name[0] = '\0';
    }
}

// Elsewhere the library does by itself what MPI_Comm_call_errhandler and the like do.
bool ends_by_function(const FatalError& fatal)
{
    return MPIR_Err_return_comm != nullptr && fatal.function != Function::MPI_Comm_call_errhandler &&
           fatal.function != Function::MPI_Win_call_errhandler &&
           fatal.function != Function::MPI_File_call_errhandler;
}

void end_function(const FatalError& fatal)
{
    char name[MPI_MAX_ERROR_STRING];
    name_failed_function(fatal, name);
    if (name[0] == '\0')
        return;
    real.MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPIR_Err_return_comm(nullptr, name, fatal.error);
}
#endif

// What the library does about it by itself.
void end_program(const FatalError& fatal)
{
#ifdef MPICH_NUMVERSION
    if (ends_by_function(fatal))
        end_function(fatal);
#endif
    if (fatal.comm != MPI_COMM_NULL) {
        real.MPI_Comm_set_errhandler(fatal.comm, MPI_ERRORS_ARE_FATAL);
        real.MPI_Comm_call_errhandler(fatal.comm, fatal.error);
    } else if (fatal.window != MPI_WIN_NULL) {
        real.MPI_Win_set_errhandler(fatal.window, MPI_ERRORS_ARE_FATAL);
        real.MPI_Win_call_errhandler(fatal.window, fatal.error);
    } else {
        real.MPI_File_set_errhandler(fatal.file, MPI_ERRORS_ARE_FATAL);
        real.MPI_File_call_errhandler(fatal.file, fatal.error);
    }
}

// Where several threads may call MPI, MPICH holds its lock while it calls an error handler, and ends the
// program by an assertion of its own if that calls MPI. Elsewhere nothing that follows the error may happen.
bool has_to_end_behind_call()
{
#ifdef MPICH_NUMVERSION
    int level = MPI_THREAD_SINGLE;
    real.MPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE;
#else
    return false;
#endif
}

Call* innermost_call()
{
    const int count = current_thread != nullptr ? current_thread->call_count : 0;
    return count > 0 ? static_cast<Call*>(current_thread->place_of_call(count - 1)) : nullptr;
}

void end_by(FatalError fatal)
{
    save(fatal.error);
    Call* const call = innermost_call();
    if (call != nullptr)
        fatal.function = call->function();
    if (call == nullptr || !has_to_end_behind_call())
        return end_program(fatal);
    put_off = fatal;
    call->end_program_behind_it();
}

void end_by_error(MPI_Comm* comm, int* error, ...)
{
    end_by({*error, *comm, MPI_WIN_NULL, MPI_FILE_NULL});
}

void end_by_window_error(MPI_Win* window, int* error, ...)
{
    end_by({*error, MPI_COMM_NULL, *window, MPI_FILE_NULL});
}

void end_by_file_error(MPI_File* file, int* error, ...)
{
    end_by({*error, MPI_COMM_NULL, MPI_WIN_NULL, *file});
}

bool is_own(MPI_Errhandler handler)
{
    return handler != MPI_ERRHANDLER_NULL &&
           (handler == comm_handler || handler == window_handler || handler == file_handler);
}

bool take_back_one_told()
{
    long told = __atomic_load_n(&told_in_place_of_own, __ATOMIC_RELAXED);
    while (told > 0 && !__atomic_compare_exchange_n(&told_in_place_of_own, &told, told - 1, true,
                                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
    return told > 0;
}

// The program may have set another one, or a library before it.
void replace_fatal_handler(MPI_Comm comm)
{
    MPI_Errhandler present;
    if (real.MPI_Comm_get_errhandler(comm, &present) != MPI_SUCCESS)
        return;
    if (present == MPI_ERRORS_ARE_FATAL)
        real.MPI_Comm_set_errhandler(comm, comm_handler);
    else
        real.MPI_Errhandler_free(&present);
}

} // namespace

void save_before_fatal_errors()
{
    if (!settings.for_check || comm_handler != MPI_ERRHANDLER_NULL ||
        real.MPI_Comm_create_errhandler(end_by_error, &comm_handler) != MPI_SUCCESS ||
        real.MPI_Win_create_errhandler(end_by_window_error, &window_handler) != MPI_SUCCESS ||
        real.MPI_File_create_errhandler(end_by_file_error, &file_handler) != MPI_SUCCESS)
        return;
    replace_fatal_handler(MPI_COMM_WORLD);
    replace_fatal_handler(MPI_COMM_SELF);
}

void save_before_fatal_errors(MPI_Win window)
{
    if (window_handler != MPI_ERRHANDLER_NULL)
        real.MPI_Win_set_errhandler(window, window_handler);
}

void hide_own_handler(MPI_Errhandler* told)
{
    if (!is_own(*told))
        return;
    MPI_Errhandler own = *told;
    real.MPI_Errhandler_free(&own); // the reference that the program was given
    *told = MPI_ERRORS_ARE_FATAL;
    __atomic_fetch_add(&told_in_place_of_own, 1, __ATOMIC_RELAXED);
}

int free_errhandler(MPI_Errhandler* handler)
{
    if (handler == nullptr || *handler != MPI_ERRORS_ARE_FATAL || !take_back_one_told())
        return real.MPI_Errhandler_free(handler);
    *handler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

// Of an empty group, or where a process is no member, no communicator is made.
void keep_own_comm_handler(MPI_Comm comm, MPI_Errhandler given)
{
    if (comm_handler != MPI_ERRHANDLER_NULL && given == MPI_ERRORS_ARE_FATAL && comm != MPI_COMM_NULL)
        real.MPI_Comm_set_errhandler(comm, comm_handler);
}

void keep_own_window_handler(MPI_Win window, MPI_Errhandler given)
{
    if (given == MPI_ERRORS_ARE_FATAL)
        save_before_fatal_errors(window);
}

void keep_own_file_handler(MPI_File file, MPI_Errhandler given)
{
    if (file_handler != MPI_ERRHANDLER_NULL && given == MPI_ERRORS_ARE_FATAL)
        real.MPI_File_set_errhandler(file, file_handler);
}

void end_by_put_off_error()
{
    if (put_off.error != MPI_SUCCESS)
        end_program(put_off);
}

void let_others_save()
{
#ifdef MPICH_NUMVERSION
    if (!settings.for_check)
        return;
    const timespec time = {0, 5 * flush_interval_for_check / 2};
    nanosleep(&time, nullptr);
#endif
}

} // namespace hdtrace::mpi
