#include "hdtrace/writer/undisturbed.h"

#include <errno.h>
#include <time.h>

namespace hdtrace {

namespace {

constexpr int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

constexpr time_t longest_wait = 10; // seconds
__thread timespec end_of_waits;     // all zero: there is none

} // namespace

Undisturbed::Undisturbed() : m_previous_errno(errno)
{
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int fault : faults)
        sigdelset(&blocked, fault);
    pthread_sigmask(SIG_BLOCK, &blocked, &m_previous);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &m_previous_cancel_state);
    // Only a signal that the program itself blocks can have been waiting.
    sigemptyset(&m_pending);
    if (sigismember(&m_previous, SIGXFSZ) == 1 || sigismember(&m_previous, SIGPIPE) == 1)
        sigpending(&m_pending);
}

Undisturbed::~Undisturbed()
{
    pthread_setcancelstate(m_previous_cancel_state, nullptr);
    pthread_sigmask(SIG_SETMASK, &m_previous, nullptr);
    errno = m_previous_errno;
}

void Undisturbed::discard(int signal) const
{
    if (sigismember(&m_pending, signal) == 1)
        return;
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, signal);
    const timespec at_once = {};
    sigtimedwait(&only, nullptr, &at_once);
}

ShortWaits::ShortWaits() : m_is_outermost(end_of_waits.tv_sec == 0)
{
    if (!m_is_outermost)
        return;
    timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += longest_wait;
    end_of_waits = end;
}

ShortWaits::~ShortWaits()
{
    if (m_is_outermost)
        end_of_waits = {};
}

// ThreadSanitizer, which the program may be compiled with, does not know pthread_mutex_clocklock().
bool lock_mutex(pthread_mutex_t& mutex)
{
    if (end_of_waits.tv_sec == 0)
        return pthread_mutex_lock(&mutex) == 0;
    timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &now);
    clock_gettime(CLOCK_REALTIME, &end);
    const time_t left = end_of_waits.tv_sec - now.tv_sec;
    end.tv_sec += left > 0 ? left : 0;
    return pthread_mutex_timedlock(&mutex, &end) == 0;
}

} // namespace hdtrace
