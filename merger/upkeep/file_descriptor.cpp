#include "merger/upkeep/file_descriptor.h"

#include "hdtrace/tools/permissions.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace hdtrace::merger {

namespace {

constexpr mode_t only_owner = 0600;
constexpr int common_flags = O_CLOEXEC | O_NOCTTY;

} // namespace

FileDescriptor::FileDescriptor(std::string path, int number) : m_path(std::move(path)), m_number(number)
{
    check(m_number);
}

FileDescriptor::~FileDescriptor()
{
    close(m_number);
}

void FileDescriptor::write(std::string_view bytes) const
{
    while (!bytes.empty()) {
        const ssize_t count = ::write(m_number, bytes.data(), bytes.size());
        if (count >= 0)
            bytes.remove_prefix(static_cast<std::size_t>(count));
        else if (errno != EINTR)
            check(count);
    }
}

void FileDescriptor::finish_as(const std::string& from) const
{
    struct stat status;
    check(stat(from.c_str(), &status));
    tools::take_permissions(m_number, from);
    const timespec times[] = {status.st_atim, status.st_mtim};
    check(futimens(m_number, times));
    check(fsync(m_number));
}

FileDescriptor open_file(const std::string& path)
{
    return {path, open(path.c_str(), O_RDONLY | common_flags)};
}

FileDescriptor make_file(const std::string& path)
{
    return {path, open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | common_flags, only_owner)};
}

void sync_folder(const std::string& path)
{
    const FileDescriptor folder(
        path, open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | common_flags));
    if (fsync(folder.number()) != 0 && errno != EINVAL) // some file systems do not need it
        throw tools::FileError(path, errno);
}

} // namespace hdtrace::merger
