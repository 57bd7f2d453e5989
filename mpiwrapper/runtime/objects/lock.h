#pragma once

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace hdtrace::mpi {

/// Holds a mutex while it lives.
class MutexLock {
  public:
    explicit MutexLock(pthread_mutex_t& mutex) : m_mutex(mutex) { pthread_mutex_lock(&m_mutex); }
    ~MutexLock() { pthread_mutex_unlock(&m_mutex); }
    MutexLock(const MutexLock&) = delete;
    MutexLock& operator=(const MutexLock&) = delete;

  private:
    pthread_mutex_t& m_mutex;
};

/// A lock for a few instructions.
class SpinLock {
  public:
    void lock()
    {
        if (__builtin_expect(__atomic_test_and_set(&m_taken, __ATOMIC_ACQUIRE), false))
            wait();
    }
    void unlock() { __atomic_clear(&m_taken, __ATOMIC_RELEASE); }

  private:
    // Who has a higher priority than the owner keeps the processor from it until it sleeps.
    [[gnu::noinline, gnu::cold]] void wait()
    {
        constexpr int most_turns = 100;
        constexpr long longest_pause = 1'000'000; // nanoseconds
        const int saved_errno = errno;
        timespec pause = {0, 1000};
        for (int turns = 0; __atomic_test_and_set(&m_taken, __ATOMIC_ACQUIRE); ++turns) {
            if (turns < most_turns) {
                sched_yield();
                continue;
            }
            syscall(SYS_nanosleep, &pause, nullptr); // which cancels no thread
            pause.tv_nsec = pause.tv_nsec < longest_pause / 2 ? 2 * pause.tv_nsec : longest_pause;
        }
        errno = saved_errno;
    }

    bool m_taken = false;
};

} // namespace hdtrace::mpi
