#include "merger/upkeep/temporary_file.h"

#include "hdtrace/tools/rename_to_new.h"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace hdtrace::merger {

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
    m_file.check(tools::rename_to_new(m_path.c_str(), m_place.c_str()));
    m_path.clear();
}

void TemporaryFile::replace()
{
    m_file.finish_as(m_place);
    m_file.check(std::rename(m_path.c_str(), m_place.c_str()));
    m_path.clear();
}

} // namespace hdtrace::merger
