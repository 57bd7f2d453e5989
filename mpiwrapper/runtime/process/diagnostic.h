// Messages for the user of the traced program.
#pragma once

#include "hdtrace/writer/text.h"
#include "hdtrace/writer/undisturbed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hdtrace::mpi {

enum Verbosity : int { incomplete_trace = 0, warnings = 1, results = 2, everything = 3 };
/// What the user wants to know. Reading the settings sets it, before it reports what is wrong with them.
inline int verbosity = incomplete_trace;

/// What standard error was when we were loaded.
struct FirstStandardError {
    bool is_known = false;
    dev_t device = 0; ///< 0 if it was closed
    ino_t inode = 0;
};
inline FirstStandardError first_standard_error;

inline void keep_first_standard_error()
{
    struct stat status = {};
    fstat(STDERR_FILENO, &status);
    first_standard_error = {true, status.st_dev, status.st_ino};
}

/// A program that closes its standard error gets the number for a file or a connection of its own, and what
/// it writes there must stay as it is. One that has a log in its place appends to that.
inline bool is_standard_error_for_messages()
{
    struct stat status;
    if (fstat(STDERR_FILENO, &status) != 0)
        return false;
    const FirstStandardError& first = first_standard_error;
    const bool is_the_first = status.st_dev == first.device && status.st_ino == first.inode;
    return !first.is_known || is_the_first || S_ISCHR(status.st_mode) ||
           (S_ISREG(status.st_mode) && (fcntl(STDERR_FILENO, F_GETFL) & O_APPEND) != 0);
}

/// A line on standard error, written when the object ends. Safe in signal handlers.
class Diagnostic {
  public:
    explicit Diagnostic(Verbosity level) : m_is_wanted(verbosity >= level) { text("hdtrace: "); }
    ~Diagnostic()
    {
        if (!m_is_wanted)
            return;
        const Undisturbed undisturbed;
        if (!is_standard_error_for_messages())
            return;
        *m_end++ = '\n';
        if (write(STDERR_FILENO, m_text, static_cast<size_t>(m_end - m_text)) < 0 && errno == EPIPE)
            undisturbed.discard(SIGPIPE);
    }
    Diagnostic(const Diagnostic&) = delete;
    Diagnostic& operator=(const Diagnostic&) = delete;

    Diagnostic& text(const char* text) { return bytes(text, strnlen(text, room())); }
    Diagnostic& bytes(const char* text, size_t length)
    {
        const size_t kept = length < room() ? length : room();
        memcpy(m_end, text, kept);
        m_end += kept;
        return *this;
    }
    Diagnostic& number(int64_t number)
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
