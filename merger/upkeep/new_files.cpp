#include "merger/upkeep/new_files.h"

#include "hdtrace/tools/file_error.h"
#include "merger/upkeep/file_descriptor.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace hdtrace::merger {

namespace {

constexpr std::size_t at_once = 16 << 20;

/// Between files of one file system the kernel may share what they have in common.
bool copy_in_kernel(const FileDescriptor& from, const FileDescriptor& to, const ByteProgress& progress)
{
    for (bool has_begun = false;; has_begun = true) {
        const ssize_t count = copy_file_range(from.number(), nullptr, to.number(), nullptr, at_once, 0);
        if (count == 0)
            return has_begun; // some file systems tell only so that they cannot do it
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && !has_begun &&
            (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP))
            return false;
        to.check(count);
        progress(count);
    }
}

void copy_bytes(const FileDescriptor& from, const FileDescriptor& to, const ByteProgress& progress)
{
    std::string buffer(1 << 20, '\0');
    for (ssize_t count = 0; (count = ::read(from.number(), buffer.data(), buffer.size())) != 0;) {
        if (count < 0 && errno == EINTR)
            continue;
        from.check(count);
        to.write(std::string_view(buffer).substr(0, count));
        progress(count);
    }
}

/// False if somebody has cut it off.
bool copy_part(const FileDescriptor& from, const detail::Extent& part, const FileDescriptor& to,
               const ByteProgress& progress)
{
    std::string buffer(1 << 20, '\0');
    for (std::int64_t done = 0; done < part.size;) {
        const auto wanted = std::min<std::int64_t>(part.size - done, std::ssize(buffer));
        const ssize_t count = pread(from.number(), buffer.data(), wanted, part.offset + done);
        from.check(count);
        if (count == 0)
            return false;
        to.write(std::string_view(buffer).substr(0, count));
        progress(count);
        done += count;
    }
    return true;
}

} // namespace

NewFiles::NewFiles(ByteProgress progress) : m_progress(std::move(progress)) {}

NewFiles::~NewFiles()
{
    for (const std::string& file : m_files)
        unlink(file.c_str());
    for (const std::string& folder : m_folders)
        rmdir(folder.c_str());
}

void NewFiles::make_folder(const std::string& path)
{
    if (mkdir(path.c_str(), 0777) != 0)
        throw tools::FileError(path, errno);
    m_folders.push_back(path);
}

void NewFiles::copy(const std::string& from, const std::string& to)
{
    const FileDescriptor source = open_file(from);
    const FileDescriptor target = make_file(to);
    m_files.push_back(to);
    if (!copy_in_kernel(source, target, m_progress))
        copy_bytes(source, target, m_progress);
    target.finish_as(from);
}

void NewFiles::copy_out(const detail::NodePlace& from, const std::string& to)
{
    const FileDescriptor source = open_file(from.node_file);
    const FileDescriptor target = make_file(to);
    m_files.push_back(to);
    for (const detail::Extent& part : from.extents)
        if (!copy_part(source, part, target, m_progress))
            throw tools::FileError(from.node_file, EIO);
    target.finish_as(from.node_file);
}

void NewFiles::link_or_copy(const std::string& from, const std::string& to)
{
    struct stat status;
    const bool is_file = lstat(from.c_str(), &status) == 0 && S_ISREG(status.st_mode);
    if (is_file && link(from.c_str(), to.c_str()) == 0) {
        m_files.push_back(to);
        m_progress(status.st_size);
    } else
        copy(from, to);
}

void NewFiles::write(std::string_view text, const std::string& from, const std::string& to)
{
    const FileDescriptor target = make_file(to);
    m_files.push_back(to);
    target.write(text);
    target.finish_as(from);
}

void NewFiles::keep(const std::string& folder)
{
    sync_folder(folder);
    for (const std::string& made : m_folders)
        sync_folder(std::filesystem::path(made).lexically_normal().parent_path().parent_path().string());
    m_files.clear();
    m_folders.clear();
}

} // namespace hdtrace::merger
