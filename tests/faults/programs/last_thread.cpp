// The main thread leaves, another one goes on and ends: so the process ends, although our flush thread
// is still there. (With an MPI library that has threads of its own it would not, with or without ours.)
#include "mpiwrapper/runtime/process/flush_thread.h"

#include <pthread.h>

static pthread_t main_thread;

static void nothing() {}

static void* go_on(void*)
{
    pthread_join(main_thread, nullptr);
    return nullptr;
}

int main()
{
    main_thread = pthread_self();
    const hdtrace::mpi::Duty duties[] = {{1'000'000'000, nothing}};
    hdtrace::mpi::start_flush_thread(nothing, duties);
    pthread_t thread;
    pthread_create(&thread, nullptr, go_on, nullptr);
    pthread_detach(thread);
    hdtrace::mpi::main_thread_left();
    pthread_exit(nullptr);
}
