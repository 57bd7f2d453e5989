// Text on its way into a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "hdtrace/writer/text.h"

namespace hdtrace::exporter {

/// All functions throw what the sink throws.
class TextOutput {
  public:
    using Sink = std::function<void(std::string_view)>;

    explicit TextOutput(Sink sink)
        : m_sink(std::move(sink)), m_buffer(std::make_unique_for_overwrite<char[]>(usual_size)),
          m_size(usual_size)
    {
    }

    [[gnu::always_inline]] TextOutput& text(std::string_view text)
    {
        if (text.size() > m_size - m_used)
            return text_without_room(text);
        std::memcpy(m_buffer.get() + m_used, text.data(), text.size());
        m_used += text.size();
        return *this;
    }

    TextOutput& number(std::int64_t number)
    {
        used_until(put_number(room_for(max_number_length), number));
        return *this;
    }

    /// Where so many bytes can be written; used_until() tells how many were.
    char* room_for(std::size_t bytes)
    {
        if (m_size - m_used < bytes) {
            flush();
            if (m_size < bytes) {
                m_buffer = std::make_unique_for_overwrite<char[]>(bytes);
                m_size = bytes;
            }
        }
        return m_buffer.get() + m_used;
    }
    void used_until(const char* end) { m_used = static_cast<std::size_t>(end - m_buffer.get()); }

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
    static constexpr std::size_t usual_size = 1 << 18;

    [[gnu::noinline]] TextOutput& text_without_room(std::string_view text)
    {
        flush();
        if (text.size() <= m_size)
            return this->text(text);
        m_sink(text);
        return *this;
    }

    /// A number of units, of which 10^digits are one.
    template <std::size_t digits> TextOutput& decimal(std::int64_t units)
    {
        constexpr std::int64_t one = [] {
            std::int64_t power = 1;
            for (std::size_t i = 0; i < digits; ++i)
                power *= 10;
            return power;
        }();
        constexpr std::size_t longest = max_number_length + sizeof "-." + digits;
        char* place = room_for(longest);
        if (units < 0)
            *place++ = '-';
        place = put_number(place, std::abs(units / one));
        *place++ = '.';
        char fraction[9]; // of which the last digits count
        put_nanoseconds(fraction, static_cast<std::uint32_t>(std::abs(units % one)));
        std::memcpy(place, fraction + sizeof fraction - digits, digits);
        used_until(place + digits);
        return *this;
    }

    Sink m_sink;
    std::unique_ptr<char[]> m_buffer;
    std::size_t m_size, m_used = 0;
};

} // namespace hdtrace::exporter
