// Text into a file that appears whole or not at all.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "merger/output_file.h"

namespace hdtrace::exporter {

/// All functions throw std::system_error.
class TextOutput {
  public:
    explicit TextOutput(std::string path) : m_file(std::move(path)) {}

    TextOutput& text(std::string_view text)
    {
        m_buffer += text;
        if (m_buffer.size() > most_buffered)
            flush();
        return *this;
    }

    TextOutput& number(std::int64_t number)
    {
        char digits[32];
        return text({digits, std::to_chars(digits, digits + sizeof digits, number).ptr});
    }

    /// With nine digits behind the point.
    TextOutput& seconds(std::int64_t nanoseconds)
    {
        constexpr std::int64_t second = 1'000'000'000;
        if (nanoseconds < 0)
            return text("-").seconds(-nanoseconds);
        const std::string fraction = std::to_string(second + nanoseconds % second);
        return number(nanoseconds / second).text(".").text(std::string_view(fraction).substr(1));
    }

    void commit()
    {
        flush();
        m_file.commit();
    }

  private:
    static constexpr std::size_t most_buffered = 1 << 18;

    void flush()
    {
        m_file.write(m_buffer);
        m_buffer.clear();
    }

    merger::OutputFile m_file;
    std::string m_buffer;
};

} // namespace hdtrace::exporter
