#include "hdtrace/tools/output_file.h"

#include "hdtrace/tools/file_error.h"

#include <glib/gstdio.h>

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace hdtrace::tools {

OutputFile::OutputFile(std::string path, mode_t mode)
    : m_file(std::move(path), [this, mode](char* name) {
          m_descriptor = g_mkstemp_full(name, O_WRONLY | O_CLOEXEC, static_cast<int>(mode));
          return m_descriptor >= 0;
      })
{
}

OutputFile::~OutputFile()
{
    if (m_descriptor >= 0)
        close(m_descriptor);
}

void OutputFile::write(std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t written = ::write(m_descriptor, bytes.data(), bytes.size());
        if (written >= 0)
            bytes.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR)
            throw FileError(m_file.place(), errno);
    }
}

void OutputFile::commit(bool overwrite)
{
    if (fsync(m_descriptor) != 0)
        throw FileError(m_file.place(), errno);
    if (close(std::exchange(m_descriptor, -1)) != 0)
        throw FileError(m_file.place(), errno);
    m_file.finish(overwrite);
}

} // namespace hdtrace::tools
