// Messages for the user of the traced program.
#pragma once

#include "hdtrace/writer/text.h"
#include "hdtrace/writer/undisturbed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
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

/// A line on standard error, written when the object ends: so long must be there what it is told. Safe in
/// signal handlers, whose stacks may be small.
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
        m_parts[m_count++] = {const_cast<char*>("\n"), 1};
        if (writev(STDERR_FILENO, m_parts, m_count) < 0 && errno == EPIPE)
            undisturbed.discard(SIGPIPE);
    }
    Diagnostic(const Diagnostic&) = delete;
    Diagnostic& operator=(const Diagnostic&) = delete;

    Diagnostic& text(const char* text) { return bytes(text, strnlen(text, m_room)); }
    Diagnostic& bytes(const char* text, size_t length)
    {
        const size_t kept = length < m_room ? length : m_room;
        if (kept > 0 && m_count < most_parts) {
            m_parts[m_count++] = {const_cast<char*>(text), kept};
            m_room -= kept;
        }
        return *this;
    }
    Diagnostic& number(int64_t number)
    {
        char* const begin = m_end_of_numbers;
        if (m_numbers + sizeof m_numbers - begin < static_cast<ptrdiff_t>(max_number_length))
            return *this;
        m_end_of_numbers = put_number(begin, number);
        return bytes(begin, static_cast<size_t>(m_end_of_numbers - begin));
    }

  private:
    static constexpr int most_parts = 24, most_numbers = 4;

    const bool m_is_wanted;
    iovec m_parts[most_parts + 1];
    int m_count = 0;
    size_t m_room = PATH_MAX + 200;
    char m_numbers[most_numbers * max_number_length];
    char* m_end_of_numbers = m_numbers;
};

} // namespace hdtrace::mpi
