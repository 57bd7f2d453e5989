#include "hdtrace/tools/progress_line.h"

#include <cstdio>
#include <unistd.h>
#include <utility>

namespace hdtrace::tools {

ProgressLine::ProgressLine(std::string tool, bool is_wanted)
    : m_tool(std::move(tool)), m_is_wanted(is_wanted && isatty(STDERR_FILENO) == 1)
{
}

void ProgressLine::show(std::string_view doing, std::size_t done, std::size_t all)
{
    const auto now = std::chrono::steady_clock::now();
    if (!m_is_wanted || (done > 0 && now - m_shown_at < std::chrono::milliseconds(100)))
        return;
    m_shown_at = now;
    m_is_shown = true;
    std::fprintf(stderr, "\r%s: %.*s", m_tool.c_str(), static_cast<int>(doing.size()), doing.data());
    if (all > 0)
        std::fprintf(stderr, " %zu of %zu", done, all);
    std::fputs("\x1b[K", stderr);
}

void ProgressLine::clear()
{
    if (std::exchange(m_is_shown, false))
        std::fputs("\r\x1b[K", stderr);
}

} // namespace hdtrace::tools
