// state_bytes.h - states as bytes, for another process of the same program on a machine of the same kind.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hdtrace/format/state.h"

namespace hdtrace::detail {

template <class Value>
concept PlainValue = std::is_trivially_copyable_v<Value>;

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
    void put_count(std::uint64_t count)
    {
        for (; count >= 0x80; count >>= 7)
            m_bytes += static_cast<char>(count | 0x80);
        m_bytes += static_cast<char>(count);
    }
    void put_number(std::int64_t number)
    {
        put_count(static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63));
    }
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

/// Names of elements and of their attributes are sent once. States have to be read in the order in which they
/// were put, by one reader.
class StateWriter {
  public:
    void put(const State& state, ByteWriter& bytes);

  private:
    void put_element(const Element& element, ByteWriter& bytes);
    void put_names(const Element& element, ByteWriter& bytes);
    static void put_values(const AttributeList& attributes, ByteWriter& bytes);

    /// By the list of the attributes' names, which is shared: the elements with it, and their numbers.
    std::unordered_map<const NameList*, std::vector<std::pair<std::string, std::uint32_t>>> m_numbers;
    std::uint32_t m_count = 0;
    std::int64_t m_time = 0; ///< of the state before
};

class StateReader {
  public:
    /// @p state's memory is used again.
    void take(ByteReader& bytes, State& state);

  private:
    struct Names {
        std::string element;
        ElementNames attributes;
    };

    void take_element(ByteReader& bytes, Element& element);
    static Names take_names(ByteReader& bytes);
    static void take_values(ByteReader& bytes, AttributeList& attributes);

    std::vector<Names> m_names; ///< by number
    std::int64_t m_time = 0;    ///< of the state before
    std::vector<Element> m_spare_children;
    std::vector<State> m_spare_states;
};

} // namespace hdtrace::detail
