// signals_blocked.h - some steps that belong together.
#pragma once

#include <csignal>

namespace hdtrace::tools {

/// Holds signals of the thread back as long as it lives, so that no handler runs between steps.
class SignalsBlocked {
  public:
    SignalsBlocked()
    {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &m_before);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &m_before, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

  private:
    sigset_t m_before;
};

} // namespace hdtrace::tools
