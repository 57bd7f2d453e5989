#include "hdtrace/writer/undisturbed.h"

#include <errno.h>
#include <time.h>

namespace hdtrace {

namespace {

constexpr int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

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

} // namespace hdtrace
