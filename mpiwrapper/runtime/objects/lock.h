#pragma once

#include <pthread.h>
#include <sched.h>

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
        while (__atomic_test_and_set(&m_taken, __ATOMIC_ACQUIRE))
            sched_yield();
    }
    void unlock() { __atomic_clear(&m_taken, __ATOMIC_RELEASE); }

  private:
    bool m_taken = false;
};

} // namespace hdtrace::mpi
