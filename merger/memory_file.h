// A file that only this process sees.
#pragma once

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include <sys/mman.h>
#include <unistd.h>

namespace hdtrace::merger {

class MemoryFile {
  public:
    MemoryFile() : m_descriptor(memfd_create("hdtrace-project", MFD_CLOEXEC))
    {
        if (m_descriptor < 0)
            throw std::system_error(errno, std::generic_category(), "memory for the project");
    }
    ~MemoryFile() { ::close(m_descriptor); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    int descriptor() const { return m_descriptor; }
    std::string text() const
    {
        std::string text;
        std::array<char, 65536> part{};
        for (ssize_t count = 0;
             (count = pread(m_descriptor, part.data(), part.size(), static_cast<off_t>(text.size()))) > 0;)
            text.append(part.data(), static_cast<std::size_t>(count));
        return text;
    }

  private:
    int m_descriptor;
};

} // namespace hdtrace::merger
