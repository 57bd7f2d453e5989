#include "hdtrace/reader/file.h"

#include <algorithm>
#include <cerrno>

#include "hdtrace/reader/errors.h"

namespace hdtrace::detail {
namespace {

constexpr std::size_t chunk_size = 64 * 1024;

} // namespace

File::File(const std::string& path) : m_file(std::fopen(path.c_str(), "rbe"))
{
    if (!m_file)
        throw OpenError(path, errno);
}

std::size_t File::read(char* target, std::size_t size)
{
    const std::size_t count = std::fread(target, 1, size, m_file.get());
    if (count < size && std::ferror(m_file.get()))
        m_error = errno;
    return count;
}

WholeLines::WholeLines(const std::string& path, std::string closing)
    : m_file(path), m_closing(std::move(closing))
{
}

std::size_t WholeLines::read(char* target, std::size_t size)
{
    while (m_next == m_whole && !m_at_end && !m_is_too_long)
        fill();
    const std::size_t count = std::min(size, m_whole - m_next);
    m_buffer.copy(target, count, m_next);
    m_next += count;
    return count;
}

std::string WholeLines::refusal() const
{
    return m_is_too_long ? "the line is longer than " + std::to_string(line_limit) + " bytes" : std::string();
}

void WholeLines::fill()
{
    m_buffer.erase(0, m_next);
    const std::size_t rest = m_buffer.size();
    m_buffer.resize(rest + chunk_size);
    m_buffer.resize(rest + m_file.read(m_buffer.data() + rest, chunk_size));
    m_next = m_whole = 0;
    m_at_end = m_buffer.size() == rest;
    const std::string_view fresh = std::string_view(m_buffer).substr(rest);
    if (m_at_end && m_buffer.ends_with(m_closing))
        m_whole = m_buffer.size();
    else if (const std::size_t line_end = fresh.rfind('\n'); line_end != fresh.npos)
        m_whole = rest + line_end + 1;
    m_is_too_long = m_buffer.size() - m_whole > line_limit;
}

} // namespace hdtrace::detail
