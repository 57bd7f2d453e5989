// Text on its way into a file.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace hdtrace::exporter {

/// All functions throw what the sink throws.
class TextOutput {
  public:
    using Sink = std::function<void(std::string_view)>;

    explicit TextOutput(Sink sink) : m_sink(std::move(sink)) {}

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
            text("-");
        number(std::abs(nanoseconds / second));
        char fraction[32]; // a digit more, in whose place is the point
        std::to_chars(fraction, fraction + sizeof fraction, second + std::abs(nanoseconds % second));
        fraction[0] = '.';
        return text({fraction, 10});
    }

    void flush()
    {
        m_sink(m_buffer);
        m_buffer.clear();
    }

  private:
    static constexpr std::size_t most_buffered = 1 << 18;

    Sink m_sink;
    std::string m_buffer;
};

} // namespace hdtrace::exporter
