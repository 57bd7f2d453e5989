#include "merger/output_file.h"

#include <glib/gstdio.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace hdtrace::merger {

namespace {

/// What signal handlers remove.
std::atomic<const char*> temporary_file = nullptr;
static_assert(decltype(temporary_file)::is_always_lock_free);

/// Holds signals back, so that no handler runs between two steps that belong together.
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

[[noreturn]] void fail(const std::string& path)
{
    throw std::system_error(errno, std::generic_category(), path);
}

} // namespace

OutputFile::OutputFile(std::string path) : m_path(std::move(path)), m_temporary(m_path + ".XXXXXX")
{
    const SignalsBlocked no_file_is_forgotten;
    constexpr int everyone_as_umask_allows = 0666;
    m_descriptor = g_mkstemp_full(m_temporary.data(), O_WRONLY | O_CLOEXEC, everyone_as_umask_allows);
    if (m_descriptor < 0)
        fail(m_path);
    temporary_file = m_temporary.c_str();
}

OutputFile::~OutputFile()
{
    if (m_descriptor >= 0)
        close(m_descriptor);
    remove_temporary();
    temporary_file = nullptr;
}

void OutputFile::remove_temporary()
{
    if (const char* path = temporary_file)
        unlink(path);
}

void OutputFile::write(std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t written = ::write(m_descriptor, bytes.data(), bytes.size());
        if (written >= 0)
            bytes.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR)
            fail(m_path);
    }
}

void OutputFile::commit()
{
    if (fsync(m_descriptor) != 0)
        fail(m_path);
    if (close(std::exchange(m_descriptor, -1)) != 0)
        fail(m_path);
    if (std::rename(m_temporary.c_str(), m_path.c_str()) != 0)
        fail(m_path);
    temporary_file = nullptr;
}

} // namespace hdtrace::merger
