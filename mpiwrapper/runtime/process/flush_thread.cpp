#include "mpiwrapper/runtime/process/flush_thread.h"

#include "hdtrace/writer/undisturbed.h"

#include <errno.h>
#include <semaphore.h>
#include <sys/stat.h>
#include <time.h>

namespace hdtrace::mpi {

namespace {

sem_t stopped;
int interval = 0; // in seconds
void (*save)() = nullptr;
bool has_main_thread = true;

// Whether all threads of the program have ended: the kernel still counts this one and the main thread.
bool is_alone()
{
    struct stat threads;
    constexpr nlink_t links_without_threads = 2;
    return !__atomic_load_n(&has_main_thread, __ATOMIC_RELAXED) && stat("/proc/self/task", &threads) == 0 &&
           threads.st_nlink <= links_without_threads + 2;
}

void* save_regularly(void*)
{
    pthread_setname_np(pthread_self(), "hdtrace");
    timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (!is_alone()) {
        next.tv_sec += interval;
        int result;
        while ((result = sem_clockwait(&stopped, CLOCK_MONOTONIC, &next)) != 0 && errno == EINTR) {
        }
        if (result == 0)
            break;
        save();
    }
    return nullptr;
}

bool create_thread(size_t stack_size)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (stack_size > 0)
        pthread_attr_setstacksize(&attributes, stack_size);
    pthread_t thread;
    const bool is_created = pthread_create(&thread, &attributes, save_regularly, nullptr) == 0;
    pthread_attr_destroy(&attributes);
    return is_created;
}

} // namespace

void start_flush_thread(int seconds, void (*save_function)())
{
    if (seconds == 0 || sem_init(&stopped, 0, 0) != 0)
        return;
    interval = seconds;
    save = save_function;
    // Signals are for the program's own threads: a new thread inherits that none may come.
    const Undisturbed undisturbed;
    constexpr size_t small_stack = 128 * 1024; // too small where libraries have much thread-local memory
    if (!create_thread(small_stack))
        create_thread(0);
}

void stop_flush_thread()
{
    if (interval > 0)
        sem_post(&stopped);
}

void main_thread_left()
{
    __atomic_store_n(&has_main_thread, false, __ATOMIC_RELAXED);
}

} // namespace hdtrace::mpi
