// errors.h - what can go wrong when files of a trace are read.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>

namespace hdtrace {

/// The file cannot be opened or read: check its path, the rights and the disk. what() is "file: reason".
class OpenError : public std::system_error {
  public:
    OpenError(std::string file, int error_number);

    const std::string& file() const { return m_file; }

  private:
    std::string m_file;
};

/// The content of the file is wrong: look at the place that is named. what() is "file:line:column: reason".
class ReadError : public std::runtime_error {
  public:
    /// @p line and @p column count from 1; 0 is unknown and left out of the message.
    ReadError(std::string file, std::int64_t line, std::int64_t column, std::string reason);

    const std::string& file() const { return m_file; }
    std::int64_t line() const { return m_line; }
    std::int64_t column() const { return m_column; }
    /// The message without the place.
    const std::string& reason() const { return m_reason; }

  private:
    std::string m_file;
    std::int64_t m_line;
    std::int64_t m_column;
    std::string m_reason;
};

} // namespace hdtrace
