// bytes.h - values as bytes, for another process of the same program on a machine of the same kind; and
// numbers as few bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace hdtrace::detail {

template <class Value>
concept PlainValue = std::is_trivially_copyable_v<Value>;

/// Seven bits in a byte, the low ones first; the eighth says that more follow.
inline void append_short(std::string& bytes, std::uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        bytes += static_cast<char>(number | 0x80);
    bytes += static_cast<char>(number);
}

/// Negative numbers alternate with positive ones: 0, -1, 1, -2, ...
inline std::uint64_t folded(std::int64_t number)
{
    return static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63);
}

/// Values as they are in memory, texts, and numbers that are short if they are near zero.
class ByteWriter {
  public:
    template <PlainValue Value> void put(const Value& value) { put_raw(&value, sizeof value); }
    template <PlainValue Value> void put_all(const std::vector<Value>& values)
    {
        put_count(values.size());
        put_raw(values.data(), values.size() * sizeof(Value));
    }
    void put_text(std::string_view text)
    {
        put_count(text.size());
        append(text);
    }
    /// Without its size.
    void append(std::string_view text) { m_bytes += text; }
    void put_count(std::uint64_t count) { append_short(m_bytes, count); }
    void put_number(std::int64_t number) { put_count(folded(number)); }
    /// As the difference to another one that the reader knows.
    void put_difference(std::int64_t number, std::int64_t other)
    {
        put_number(static_cast<std::int64_t>(static_cast<std::uint64_t>(number) -
                                             static_cast<std::uint64_t>(other)));
    }
    std::size_t size() const { return m_bytes.size(); }
    /// All of it, and begins anew.
    std::string take() { return std::exchange(m_bytes, {}); }

  private:
    void put_raw(const void* data, std::size_t size) { m_bytes.append(static_cast<const char*>(data), size); }

    std::string m_bytes;
};

/// Takes what was put, in the same order. Everything throws std::logic_error where too little is left. The
/// bytes must stay where they are.
class ByteReader {
  public:
    explicit ByteReader(std::string_view bytes = {}) : m_bytes(bytes) {}

    bool empty() const { return m_bytes.empty(); }
    template <PlainValue Value> Value take()
    {
        Value value;
        std::memcpy(&value, take_bytes(sizeof value).data(), sizeof value);
        return value;
    }
    template <PlainValue Value> void take_all(std::vector<Value>& values)
    {
        const std::uint64_t count = take_count();
        if (count > m_bytes.size() / sizeof(Value))
            throw_too_short();
        values.resize(count);
        if (count > 0)
            std::memcpy(values.data(), take_bytes(count * sizeof(Value)).data(), count * sizeof(Value));
    }
    std::string_view take_text() { return take_bytes(take_count()); }
    std::string_view take_bytes(std::uint64_t size)
    {
        if (size > m_bytes.size())
            throw_too_short();
        const std::string_view bytes = m_bytes.substr(0, size);
        m_bytes.remove_prefix(size);
        return bytes;
    }
    std::uint64_t take_count()
    {
        std::uint64_t count = 0;
        for (int shift = 0;; shift += 7) {
            if (m_bytes.empty() || shift > 63)
                throw_too_short();
            const auto byte = static_cast<unsigned char>(m_bytes.front());
            m_bytes.remove_prefix(1);
            count |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80)
                return count;
        }
    }
    std::int64_t take_number()
    {
        const std::uint64_t count = take_count();
        return static_cast<std::int64_t>(count >> 1 ^ -(count & 1));
    }
    std::int64_t take_difference(std::int64_t other)
    {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(take_number()) +
                                         static_cast<std::uint64_t>(other));
    }

  private:
    [[noreturn]] static void throw_too_short()
    {
        throw std::logic_error("what another process has sent is too short");
    }

    std::string_view m_bytes;
};

} // namespace hdtrace::detail
