// Numbers as DUMPI's files have them, the highest byte first.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace hdtrace::exporter::dumpi {

class Bytes {
  public:
    template <std::integral Number> Bytes& number(Number value)
    {
        return number(static_cast<std::uint64_t>(value), sizeof value);
    }
    /// The lowest @p width bytes of it.
    Bytes& number(std::uint64_t value, std::size_t width)
    {
        for (std::size_t i = width; i-- > 0;)
            m_bytes += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
        return *this;
    }
    /// Its length in so many bytes, and itself as far as that can tell.
    template <std::unsigned_integral Length> Bytes& text(std::string_view text)
    {
        const std::string_view told = text.substr(0, static_cast<Length>(-1));
        number(static_cast<Length>(told.size()));
        m_bytes += told;
        return *this;
    }
    Bytes& append(std::string_view bytes)
    {
        m_bytes += bytes;
        return *this;
    }

    std::string_view view() const { return m_bytes; }
    std::size_t size() const { return m_bytes.size(); }
    void clear() { m_bytes.clear(); }

  private:
    std::string m_bytes;
};

} // namespace hdtrace::exporter::dumpi
