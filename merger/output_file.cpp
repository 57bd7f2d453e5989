#include "merger/output_file.h"

#include <glib/gstdio.h>

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace hdtrace::merger {

namespace {

[[noreturn]] void fail(const std::string& path)
{
    throw std::system_error(errno, std::generic_category(), path);
}

} // namespace

OutputFile::OutputFile(std::string path) : m_path(std::move(path)), m_temporary(m_path + ".XXXXXX")
{
    constexpr int everyone_as_umask_allows = 0666;
    m_descriptor = g_mkstemp_full(m_temporary.data(), O_WRONLY | O_CLOEXEC, everyone_as_umask_allows);
    if (m_descriptor < 0)
        fail(m_path);
}

OutputFile::~OutputFile()
{
    if (m_descriptor >= 0)
        close(m_descriptor);
    if (!m_temporary.empty())
        unlink(m_temporary.c_str());
}

void OutputFile::commit()
{
    if (fsync(m_descriptor) != 0)
        fail(m_path);
    if (close(std::exchange(m_descriptor, -1)) != 0)
        fail(m_path);
    if (std::rename(m_temporary.c_str(), m_path.c_str()) != 0)
        fail(m_path);
    m_temporary.clear();
}

} // namespace hdtrace::merger
