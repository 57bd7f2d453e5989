// progress_line.h - the last line of a terminal, which says how far a tool is.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace hdtrace::tools {

/// On standard error.
class ProgressLine {
  public:
    /// @p is_wanted: nothing is shown without, nor where standard error is no terminal.
    ProgressLine(std::string tool, bool is_wanted);

    /// @p all: 0 if it is not known.
    void show(std::string_view doing, std::size_t done, std::size_t all);
    void clear();

  private:
    std::string m_tool;
    bool m_is_wanted;
    bool m_is_shown = false;
    std::chrono::steady_clock::time_point m_shown_at;
};

} // namespace hdtrace::tools
