#include "merger/upkeep/temporary_file.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace hdtrace::merger {

namespace {

/// An error if @p to is there.
int rename_to_new(const char* from, const char* to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    return link(from, to) == 0 ? unlink(from) : -1; // where the file system does not know the flag
}

} // namespace

TemporaryFile::TemporaryFile(std::string place)
    : m_place(std::move(place)), m_path(m_place + ".XXXXXX"),
      m_file(m_place, mkostemp(m_path.data(), O_CLOEXEC))
{
}

TemporaryFile::~TemporaryFile()
{
    if (!m_path.empty())
        unlink(m_path.c_str());
}

void TemporaryFile::take_place_with(const std::string& original)
{
    m_file.finish_as(original);
    m_file.check(rename_to_new(m_path.c_str(), m_place.c_str()));
    m_path.clear();
}

void TemporaryFile::replace()
{
    m_file.finish_as(m_place);
    m_file.check(std::rename(m_path.c_str(), m_place.c_str()));
    m_path.clear();
}

} // namespace hdtrace::merger
