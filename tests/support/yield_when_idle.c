/* Preloaded into MPICH's processes by scripts/mpirun (MPIRUN_PRELOAD): they poll without a pause, and where
 * there are more of them than processors each waits until the others have used up their time slices. Here
 * whoever has found nothing for a while lets others run, as Open MPI's mpi_yield_when_idle does. For an MPICH
 * on top of UCX (ucp_worker_progress is documented in ucp.h). */
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>

enum { POLLS_BEFORE_YIELD = 100 };

typedef unsigned (*progress_function)(void* worker);
unsigned ucp_worker_progress(void* worker);

/* MPICH 4.0.2 loses and mixes up messages now and then where several threads call it and one of them yields
 * here. */
static int is_only_thread(void)
{
    static _Thread_local char this_thread;
    static _Atomic(const char*) first_thread;
    static atomic_int has_others;
    const char* expected = 0;
    if (!atomic_compare_exchange_strong(&first_thread, &expected, &this_thread) && expected != &this_thread)
        has_others = 1;
    return !has_others;
}

unsigned ucp_worker_progress(void* worker)
{
    static progress_function real;
    static _Thread_local int idle_polls;
    if (real == 0) /* not RTLD_NEXT: Python loads MPI privately */
        real =
            (progress_function)dlsym(dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD), "ucp_worker_progress");
    const unsigned found = real(worker);
    idle_polls = found > 0 ? 0 : idle_polls + 1;
    if (idle_polls >= POLLS_BEFORE_YIELD && is_only_thread()) {
        idle_polls = 0;
        sched_yield();
    }
    return found;
}
