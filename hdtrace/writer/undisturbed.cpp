#include "hdtrace/writer/undisturbed.h"

#include <errno.h>
#include <time.h>

namespace hdtrace {

namespace {

constexpr int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

bool is_pending(int signal)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, signal) == 1;
}

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
    m_file_size_signal_was_pending = sigismember(&m_previous, SIGXFSZ) == 1 && is_pending(SIGXFSZ);
}

Undisturbed::~Undisturbed()
{
    pthread_setcancelstate(m_previous_cancel_state, nullptr);
    pthread_sigmask(SIG_SETMASK, &m_previous, nullptr);
    errno = m_previous_errno;
}

void Undisturbed::discard_file_size_signal() const
{
    if (m_file_size_signal_was_pending)
        return;
    sigset_t file_size_signal;
    sigemptyset(&file_size_signal);
    sigaddset(&file_size_signal, SIGXFSZ);
    const timespec at_once = {};
    sigtimedwait(&file_size_signal, nullptr, &at_once);
}

} // namespace hdtrace
