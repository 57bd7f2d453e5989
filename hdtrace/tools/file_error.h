// file_error.h - what goes wrong when files are written.
#pragma once

#include <string>
#include <system_error>
#include <utility>

namespace hdtrace::tools {

/// The file or directory cannot be made or written. what() is "file: reason".
class FileError : public std::system_error {
  public:
    FileError(std::string file, int error_number)
        : std::system_error(error_number, std::generic_category(), file), m_file(std::move(file))
    {
    }

    const std::string& file() const { return m_file; }

  private:
    std::string m_file;
};

} // namespace hdtrace::tools
