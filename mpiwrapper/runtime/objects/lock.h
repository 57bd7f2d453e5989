#pragma once

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace hdtrace::mpi {

/// Holds a mutex (HDTRACE_MUTEX_INITIALIZER) while it lives, without the system calls of Lock. Where all who
/// change something hold a Lock, it is enough for a look, held or not: what a signal handler has interrupted
/// is a look, too, during which nobody changes anything. Who comes with a Lock then is told that he does not
/// hold it.
class MutexLock {
  public:
    explicit MutexLock(pthread_mutex_t& mutex) : m_mutex(mutex), m_held(pthread_mutex_lock(&mutex) == 0) {}
    ~MutexLock()
    {
        if (m_held)
            pthread_mutex_unlock(&m_mutex);
    }
    MutexLock(const MutexLock&) = delete;
    MutexLock& operator=(const MutexLock&) = delete;

    /// False in a signal handler that has interrupted who holds it.
    bool held() const { return m_held; }

  private:
    pthread_mutex_t& m_mutex;
    const bool m_held;
};

/// A lock for a few instructions, which are in a SpinTurn.
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

/// What is under SpinLocks, in the order in which a thread may lock it.
enum class Spinning : uint8_t { nothing, requests, buffers };

/// A thread's time under locks of one kind. A signal handler that has interrupted it does not get another one
/// of this kind, where it would wait for itself.
class SpinTurn {
  public:
    SpinTurn() = default;
    ~SpinTurn() { end(); }
    SpinTurn(const SpinTurn&) = delete;
    SpinTurn& operator=(const SpinTurn&) = delete;

    /// Before the first lock. False if it must not be locked.
    bool begin(Spinning what)
    {
        if (current >= what)
            return false;
        m_outer = current;
        m_has_begun = true;
        current = what;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        return true;
    }
    /// Behind the last one.
    void end()
    {
        if (!m_has_begun)
            return;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        current = m_outer;
        m_has_begun = false;
    }

  private:
    inline static constinit thread_local Spinning current = Spinning::nothing;

    Spinning m_outer = Spinning::nothing;
    bool m_has_begun = false;
};

} // namespace hdtrace::mpi
