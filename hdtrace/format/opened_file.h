// opened_file.h - a file of which bytes are read wherever they stand.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hdtrace/format/errors.h"

namespace hdtrace::detail {

/// Which file it is, its size, and when it was changed: the same as long as nothing is written to it.
using FileVersion = std::array<std::int64_t, 5>;

inline FileVersion version_of(const struct stat& status)
{
    return {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino),
            status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

/// Everything throws OpenError with the reason of the system.
class OpenedFile {
  public:
    explicit OpenedFile(std::string path)
        : m_path(std::move(path)), m_descriptor(open(m_path.c_str(), O_RDONLY | O_CLOEXEC))
    {
        if (m_descriptor < 0)
            throw OpenError(m_path, errno);
    }
    ~OpenedFile() { close(m_descriptor); }
    OpenedFile(const OpenedFile&) = delete;
    OpenedFile& operator=(const OpenedFile&) = delete;

    const std::string& path() const { return m_path; }
    int descriptor() const { return m_descriptor; }
    /// How many bytes there were: fewer only at the end.
    std::size_t read(std::int64_t offset, char* target, std::size_t size) const
    {
        std::size_t done = 0;
        while (done < size) {
            const ssize_t count =
                pread(m_descriptor, target + done, size - done, offset + static_cast<std::int64_t>(done));
            if (count < 0 && errno != EINTR)
                throw OpenError(m_path, errno);
            if (count == 0)
                break;
            done += count > 0 ? static_cast<std::size_t>(count) : 0;
        }
        return done;
    }

  private:
    std::string m_path;
    int m_descriptor;
};

} // namespace hdtrace::detail
