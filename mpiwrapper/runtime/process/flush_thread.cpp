#include "mpiwrapper/runtime/process/flush_thread.h"

#include "hdtrace/writer/undisturbed.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

namespace hdtrace::mpi {

namespace {

constexpr int64_t second = 1'000'000'000;
constexpr int64_t never = INT64_MAX;

/// What is to be done, and when next.
struct Task {
    Duty duty = {};
    int64_t next = never;
};

sem_t stopped;
bool is_started = false;
pid_t own_tid = 0; ///< 0 until it runs
void (*begin)() = nullptr;
Task tasks[2];
bool has_main_thread = true;

// Whether all threads of the program have ended: the kernel still counts this one and the main thread.
bool is_alone()
{
    struct stat threads;
    constexpr nlink_t links_without_threads = 2;
    return !__atomic_load_n(&has_main_thread, __ATOMIC_RELAXED) && stat("/proc/self/task", &threads) == 0 &&
           threads.st_nlink <= links_without_threads + 2;
}

int64_t now()
{
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * second + time.tv_nsec;
}

// False if we are to stop before.
bool wait_until(int64_t time)
{
    const timespec end = {time / second, time % second};
    int result;
    while ((result = sem_clockwait(&stopped, CLOCK_MONOTONIC, &end)) != 0 && errno == EINTR) {
    }
    return result != 0;
}

void plan(Task& task, int64_t from)
{
    task.next =
        task.duty.interval > 0 && task.duty.interval < never - from ? from + task.duty.interval : never;
}

bool is_there()
{
    const pid_t tid = __atomic_load_n(&own_tid, __ATOMIC_RELAXED);
    return tid == 0 || tgkill(getpid(), tid, 0) == 0;
}

int64_t first_due()
{
    int64_t first = never;
    for (const Task& task : tasks)
        first = task.next < first ? task.next : first;
    return first;
}

void* work_regularly(void*)
{
    __atomic_store_n(&own_tid, gettid(), __ATOMIC_RELAXED);
    pthread_setname_np(pthread_self(), "hdtrace");
    begin();
    for (Task& task : tasks)
        plan(task, now());
    while (!is_alone() && wait_until(first_due())) {
        for (Task& task : tasks) {
            if (task.next > now())
                continue;
            task.duty.act();
            // What took longer than it may is not done twice to make up for it.
            plan(task, task.next + task.duty.interval > now() ? task.next : now());
        }
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
    const bool is_created = pthread_create(&thread, &attributes, work_regularly, nullptr) == 0;
    pthread_attr_destroy(&attributes);
    return is_created;
}

} // namespace

bool start_flush_thread(void (*begin_function)(), std::span<const Duty> duties)
{
    bool is_needed = false;
    for (size_t i = 0; i < duties.size(); ++i) {
        tasks[i].duty = duties[i];
        is_needed |= duties[i].interval > 0;
    }
    if (!is_needed || sem_init(&stopped, 0, 0) != 0)
        return false;
    begin = begin_function;
    // Signals are for the program's own threads: a new thread inherits that none may come.
    const Undisturbed undisturbed;
    constexpr size_t small_stack = 128 * 1024; // too small where libraries have much thread-local memory
    is_started = create_thread(small_stack) || create_thread(0);
    return is_started;
}

void stop_flush_thread()
{
    if (is_started)
        sem_post(&stopped);
}

void end_flush_thread()
{
    if (!is_started)
        return;
    const Undisturbed undisturbed;
    stop_flush_thread();
    for (timespec pause = {0, 20'000}; is_there() && pause.tv_nsec < second / 2; pause.tv_nsec *= 2)
        nanosleep(&pause, nullptr);
}

void main_thread_left()
{
    __atomic_store_n(&has_main_thread, false, __ATOMIC_RELAXED);
}

} // namespace hdtrace::mpi
