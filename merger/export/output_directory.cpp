#include "merger/export/output_directory.h"

#include "hdtrace/tools/file_error.h"

#include <cerrno>
#include <cstdlib>
#include <sys/stat.h>
#include <system_error>

namespace fs = std::filesystem;

namespace hdtrace::exporter {

namespace {

/// As mkdir would make it.
mode_t usual_mode()
{
    const mode_t mask = umask(0);
    umask(mask);
    return 0777 & ~mask;
}

/// From the root on, and without a slash at the end.
std::string clean(const std::string& path)
{
    const fs::path clean = fs::absolute(path).lexically_normal();
    return clean.has_filename() ? clean : clean.parent_path();
}

/// Of a directory that would not get its place nothing need be written.
std::string free_place(std::string place)
{
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(place, ignored)))
        throw tools::FileError(place, EEXIST);
    return place;
}

} // namespace

OutputDirectory::OutputDirectory(const std::string& path, Place place)
    : m_directory(place == Place::has_to_be_free ? free_place(clean(path)) : clean(path),
                  [](char* name) { return mkdtemp(name) != nullptr && chmod(name, usual_mode()) == 0; })
{
}

DirectoryFile::DirectoryFile(const OutputDirectory& directory, const std::string& name, bool keep_open)
    : m_path(directory.path() / name), m_temporary_path(directory.temporary_path() / name),
      m_keep_open(keep_open), m_stream(m_temporary_path, std::ios::binary)
{
    check(m_stream.is_open());
    if (!m_keep_open)
        close();
}

void DirectoryFile::write(std::string_view bytes)
{
    if (!m_keep_open)
        m_stream.open(m_temporary_path, std::ios::binary | std::ios::app);
    m_stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    check(m_stream.good());
    if (!m_keep_open)
        close();
}

void DirectoryFile::close()
{
    if (m_stream.is_open())
        m_stream.close();
    check(m_stream.good());
}

void DirectoryFile::check(bool is_fine) const
{
    if (!is_fine)
        throw tools::FileError(m_path, errno);
}

} // namespace hdtrace::exporter
