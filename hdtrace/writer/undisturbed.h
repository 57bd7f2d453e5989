// Keeps the program's signals and thread cancellation away from the tracer's critical moments.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace hdtrace {

/// While it lives, no signal handler runs on the calling thread, the thread cannot be cancelled, and
/// afterwards errno is as before. Faults of the thread itself (SIGSEGV ...) still arrive. Costs two system
/// calls.
class Undisturbed {
  public:
    Undisturbed();
    ~Undisturbed();
    Undisturbed(const Undisturbed&) = delete;
    Undisturbed& operator=(const Undisturbed&) = delete;

    /// Takes back the signal which the kernel sends to a thread that writes beyond the file-size limit
    /// (SIGXFSZ) or to a pipe that nobody reads (SIGPIPE).
    void discard(int signal) const;

  private:
    sigset_t m_previous;
    int m_previous_cancel_state;
    int m_previous_errno;
    sigset_t m_pending; // before
};

/// Initialises a mutex for Lock: who holds it already is told so instead of waiting for itself.
#define HDTRACE_MUTEX_INITIALIZER PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP

/// While it lives, the calling thread waits for its Locks no longer than some seconds in all: whoever holds
/// one may wait itself for a file system that does not answer.
class ShortWaits {
  public:
    ShortWaits();
    ~ShortWaits();
    ShortWaits(const ShortWaits&) = delete;
    ShortWaits& operator=(const ShortWaits&) = delete;

  private:
    const bool m_is_outermost;
};

/// False if the thread holds it already, or ShortWaits have waited for long enough.
bool lock_mutex(pthread_mutex_t& mutex);

/// Holds a mutex, undisturbed. If all users of a mutex lock it in this way, a signal handler may do so too:
/// the thread that it interrupted is not the owner.
class Lock {
  public:
    explicit Lock(pthread_mutex_t& mutex) : m_mutex(mutex), m_held(lock_mutex(mutex)) {}
    ~Lock()
    {
        if (m_held)
            pthread_mutex_unlock(&m_mutex);
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    /// False only in the handler of a fault which this thread had while it held the mutex, and where
    /// ShortWaits are over.
    bool held() const { return m_held; }
    const Undisturbed& undisturbed() const { return m_undisturbed; }

  private:
    const Undisturbed m_undisturbed; // first in, last out
    pthread_mutex_t& m_mutex;
    const bool m_held;
};

} // namespace hdtrace
