// Text on its way into a file.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

namespace hdtrace::exporter {

/// All functions throw what the sink throws.
class TextOutput {
  public:
    using Sink = std::function<void(std::string_view)>;

    explicit TextOutput(Sink sink)
        : m_sink(std::move(sink)), m_buffer(std::make_unique_for_overwrite<char[]>(buffer_size))
    {
    }

    TextOutput& text(std::string_view text)
    {
        if (text.size() > buffer_size - m_used) {
            flush();
            if (text.size() > buffer_size) {
                m_sink(text);
                return *this;
            }
        }
        std::memcpy(m_buffer.get() + m_used, text.data(), text.size());
        m_used += text.size();
        return *this;
    }

    TextOutput& number(std::int64_t number)
    {
        constexpr std::size_t longest = 32;
        if (buffer_size - m_used < longest)
            flush();
        char* const begin = m_buffer.get() + m_used;
        m_used += static_cast<std::size_t>(std::to_chars(begin, begin + longest, number).ptr - begin);
        return *this;
    }

    /// With nine digits behind the point.
    TextOutput& seconds(std::int64_t nanoseconds) { return decimal<9>(nanoseconds); }
    /// With three of them.
    TextOutput& microseconds(std::int64_t nanoseconds) { return decimal<3>(nanoseconds); }

    void flush()
    {
        m_sink({m_buffer.get(), m_used});
        m_used = 0;
    }

  private:
    static constexpr std::size_t buffer_size = 1 << 18;

    /// A number of units, of which 10^digits are one.
    template <std::size_t digits> TextOutput& decimal(std::int64_t units)
    {
        constexpr std::int64_t one = [] {
            std::int64_t power = 1;
            for (std::size_t i = 0; i < digits; ++i)
                power *= 10;
            return power;
        }();
        if (units < 0)
            text("-");
        number(std::abs(units / one));
        char fraction[32]; // a digit more, in whose place is the point
        std::to_chars(fraction, fraction + sizeof fraction, one + std::abs(units % one));
        fraction[0] = '.';
        return text({fraction, digits + 1});
    }

    Sink m_sink;
    std::unique_ptr<char[]> m_buffer;
    std::size_t m_used = 0;
};

} // namespace hdtrace::exporter
