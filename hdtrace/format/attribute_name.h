// attribute_name.h - what attributes of elements are looked up by.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>
#include <type_traits>

namespace hdtrace {
namespace detail {

/// Names that mean the same: ours first, then those of older traces.
using Spellings = std::array<std::string_view, 3>;
inline constexpr Spellings same_meaning[] = {
    {"fid", "file", {}},
    {"rid", "aid", "request"},
    {"cid", "comm", {}},
    {"tid", "type", "sendTid"},
    {"recvtid", "recvTid", "recvType"},
    {"etid", "etype", {}},
    {"filetid", "filetype", {}},
    {"oldTid", "from_type", {}},
    {"rootRank", "root", {}},
    {"fromRank", "source", {}},
    {"fromTag", "tag", {}},
    {"size", "sendSize", {}},
};

/// Names of up to eight ASCII letters have the same key only if they are equal, and longer ones seldom.
using NameKey = std::uint64_t;
inline constexpr NameKey not_exact = NameKey{1} << 63; ///< set in keys that others may have, too

constexpr NameKey key_of_long_name(std::string_view name)
{
    NameKey key = name.size();
    for (const char letter : name)
        key = key * 0x100000001b3 + static_cast<unsigned char>(letter);
    return key | not_exact;
}

constexpr NameKey key_of_name(std::string_view name)
{
    if (name.size() > sizeof(NameKey))
        return key_of_long_name(name);
    if (!std::is_constant_evaluated() && std::endian::native == std::endian::little && name.size() >= 4) {
        std::uint32_t first = 0, last = 0; // which may overlap
        std::memcpy(&first, name.data(), sizeof first);
        std::memcpy(&last, name.data() + name.size() - sizeof last, sizeof last);
        return first | NameKey{last} << (8 * (name.size() - sizeof last));
    }
    NameKey key = 0;
    for (std::size_t i = 0; i < name.size(); ++i)
        key |= NameKey{static_cast<unsigned char>(name[i])} << (8 * i);
    return key;
}

/// One of 64, which different names seldom share.
constexpr unsigned slot_of_key(NameKey key)
{
    return static_cast<unsigned>((key * 0x9e3779b97f4a7c15) >> 58);
}

constexpr std::uint64_t bit_of_key(NameKey key)
{
    return std::uint64_t{1} << slot_of_key(key);
}

constexpr std::uint64_t bits_of(const Spellings& spellings)
{
    std::uint64_t bits = 0;
    for (const std::string_view spelling : spellings)
        bits |= spelling.empty() ? 0 : bit_of_key(key_of_name(spelling));
    return bits;
}

inline constexpr int no_spellings = -1;

/// A name that has spellings.
struct SpelledName {
    NameKey key = 0;
    int row = no_spellings; ///< of the table
};

/// By the slot of the key; a few names share theirs.
inline constexpr auto spelled_names = [] {
    std::array<std::array<SpelledName, 4>, 64> names{};
    for (std::size_t row = 0; row < std::size(same_meaning); ++row)
        for (std::size_t i = 0; i < same_meaning[row].size(); ++i)
            if (!same_meaning[row][i].empty()) {
                const NameKey key = key_of_name(same_meaning[row][i]);
                auto& sharing = names[slot_of_key(key)];
                std::size_t free = 0;
                while (sharing.at(free).row != no_spellings) // too many share it if this does not compile
                    ++free;
                sharing[free] = {key, static_cast<int>(row)};
            }
    return names;
}();

/// Its row in the table; no_spellings for most names.
constexpr int spellings_of(NameKey key)
{
    for (const SpelledName& name : spelled_names[slot_of_key(key)])
        if (name.row == no_spellings || name.key == key)
            return name.row;
    return no_spellings;
}

} // namespace detail

/// The name by which traces of today call the attribute that older ones call @p name: "rid" for "aid"; else
/// @p name itself.
constexpr std::string_view current_name(std::string_view name)
{
    const int spellings = detail::spellings_of(detail::key_of_name(name));
    return spellings == detail::no_spellings ? name : detail::same_meaning[spellings].front();
}

/// The name of an attribute to look for, with its other spellings. Of a literal it is made by the compiler.
/// The text belongs to whoever gave it.
class AttributeName {
  public:
    template <std::size_t size>
    // NOLINTNEXTLINE(google-explicit-constructor): find("rid")
    consteval AttributeName(const char (&literal)[size])
        : AttributeName(std::string_view(literal, size - 1), nullptr)
    {
    }
    template <std::convertible_to<std::string_view> Text>
    requires(!std::is_array_v<std::remove_reference_t<Text>>)
        // NOLINTNEXTLINE(google-explicit-constructor): find(name)
        constexpr AttributeName(const Text& text)
        : AttributeName(std::string_view(text), nullptr)
    {
    }

    constexpr std::string_view text() const { return m_text; }
    constexpr detail::NameKey key() const { return m_key; }
    /// Null if it has none.
    constexpr const detail::Spellings* spellings() const
    {
        return m_spellings == detail::no_spellings ? nullptr : &detail::same_meaning[m_spellings];
    }
    /// Of the name itself and of its other spellings.
    constexpr std::uint64_t bits() const { return m_bits; }

  private:
    constexpr AttributeName(std::string_view text, std::nullptr_t)
        : m_text(text), m_key(detail::key_of_name(text)), m_spellings(detail::spellings_of(m_key)),
          m_bits(detail::bit_of_key(m_key))
    {
        if (m_spellings != detail::no_spellings)
            m_bits |= detail::bits_of(detail::same_meaning[m_spellings]);
    }

    std::string_view m_text;
    detail::NameKey m_key;
    int m_spellings;
    std::uint64_t m_bits;
};

} // namespace hdtrace
