// An open file, which is written with its owner, mode and times as those of another one.
#pragma once

#include "hdtrace/tools/file_error.h"

#include <cerrno>
#include <string>
#include <string_view>

namespace hdtrace::merger {

/// Everything here throws FileError.
class FileDescriptor {
  public:
    /// Takes one that was opened; -1 with the reason in errno is an error.
    FileDescriptor(std::string path, int number);
    ~FileDescriptor();
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;

    int number() const { return m_number; }
    /// Throws the reason in errno if @p result is negative.
    template <class Result> Result check(Result result) const
    {
        if (result < 0)
            throw tools::FileError(m_path, errno);
        return result;
    }

    void write(std::string_view bytes) const;
    /// Gives it the owner, mode and times of another file, as far as this process may, and waits until it is
    /// safe on the disk. The time tells readers whether descriptions are newer than the project.
    void finish_as(const std::string& from) const;

  private:
    std::string m_path;
    int m_number;
};

/// For reading.
FileDescriptor open_file(const std::string& path);
/// For writing; nobody else may read it, and it must not be there.
FileDescriptor make_file(const std::string& path);

/// Waits until it is safe which files a folder has.
void sync_folder(const std::string& path);

} // namespace hdtrace::merger
