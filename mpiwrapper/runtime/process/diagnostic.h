// What the user of the program hears of us.
#pragma once

#include "hdtrace/writer/text.h"
#include "hdtrace/writer/undisturbed.h"
#include "mpiwrapper/runtime/settings.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

namespace hdtrace::mpi {

/// How much, by HDTRACE_VERBOSITY.
enum Verbosity : int { incomplete_trace = 0, warnings = 1, results = 2, everything = 3 };

/// A line on standard error, said when the object ends. Safe in signal handlers.
class Say {
  public:
    explicit Say(Verbosity level) : m_is_wanted(settings.verbosity >= level) { text("hdtrace: "); }
    ~Say()
    {
        if (!m_is_wanted)
            return;
        const Undisturbed undisturbed;
        *m_end++ = '\n';
        if (write(STDERR_FILENO, m_text, static_cast<size_t>(m_end - m_text)) < 0 && errno == EPIPE)
            undisturbed.discard(SIGPIPE);
    }
    Say(const Say&) = delete;
    Say& operator=(const Say&) = delete;

    Say& text(const char* text)
    {
        const size_t length = strnlen(text, room());
        memcpy(m_end, text, length);
        m_end += length;
        return *this;
    }
    Say& number(int64_t number)
    {
        if (room() >= max_number_length)
            m_end = put_number(m_end, number);
        return *this;
    }

  private:
    size_t room() const { return static_cast<size_t>(m_text + sizeof m_text - 1 - m_end); }

    const bool m_is_wanted;
    char m_text[PATH_MAX + 200];
    char* m_end = m_text;
};

} // namespace hdtrace::mpi
