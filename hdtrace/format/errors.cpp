#include "hdtrace/format/errors.h"

namespace hdtrace {
namespace {

std::string place(const std::string& file, std::int64_t line, std::int64_t column)
{
    std::string text = file;
    if (line > 0)
        text += ":" + std::to_string(line);
    if (line > 0 && column > 0)
        text += ":" + std::to_string(column);
    return text;
}

} // namespace

OpenError::OpenError(std::string file, int error_number)
    : std::system_error(error_number, std::generic_category(), file), m_file(std::move(file))
{
}

ReadError::ReadError(std::string file, std::int64_t line, std::int64_t column, std::string reason)
    : std::runtime_error(place(file, line, column) + ": " + reason), m_file(std::move(file)), m_line(line),
      m_column(column), m_reason(std::move(reason))
{
}

} // namespace hdtrace
