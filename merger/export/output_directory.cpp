#include "merger/export/output_directory.h"

#include <cerrno>
#include <cstdlib>
#include <sys/stat.h>
#include <system_error>

namespace fs = std::filesystem;

namespace hdtrace::exporter {

namespace {

[[noreturn]] void fail(const fs::path& path)
{
    throw std::system_error(errno, std::generic_category(), path);
}

/// As mkdir would make it.
mode_t usual_mode()
{
    const mode_t mask = umask(0);
    umask(mask);
    return 0777 & ~mask;
}

} // namespace

OutputDirectory::OutputDirectory(const std::string& path) : m_path(fs::absolute(path).lexically_normal())
{
    if (!m_path.has_filename())
        m_path = m_path.parent_path();
    std::string name = m_path.string() + ".XXXXXX";
    if (mkdtemp(name.data()) == nullptr)
        fail(m_path);
    m_temporary = name;
    if (chmod(name.c_str(), usual_mode()) != 0)
        fail(m_path);
}

OutputDirectory::~OutputDirectory()
{
    std::error_code ignored;
    if (!m_temporary.empty())
        fs::remove_all(m_temporary, ignored);
}

void OutputDirectory::commit()
{
    fs::rename(m_temporary, m_path);
    m_temporary.clear();
}

DirectoryFile::DirectoryFile(const OutputDirectory& directory, const std::string& name)
    : m_path(directory.path() / name), m_stream(directory.temporary_path() / name, std::ios::binary)
{
    check(m_stream.is_open());
}

void DirectoryFile::write(std::string_view bytes)
{
    m_stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    check(m_stream.good());
}

void DirectoryFile::close()
{
    m_stream.close();
    check(m_stream.good());
}

void DirectoryFile::check(bool is_fine) const
{
    if (!is_fine)
        fail(m_path);
}

} // namespace hdtrace::exporter
