// columns.h - columns of a table, which Python takes over without copying.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hdtrace/format/attribute_name.h"
#include "hdtrace/matching/regions.h"

namespace hdtrace {

template <class Number> struct Numbers {
    std::vector<Number> values;
};

/// Memory that is zero from the beginning, and costs nothing where nothing else is written.
template <class Item> struct ZeroedMemory {
    using value_type = Item;

    ZeroedMemory() = default;
    template <class Other> explicit ZeroedMemory(const ZeroedMemory<Other>&) {}
    Item* allocate(std::size_t count)
    {
        void* const memory = std::calloc(count, sizeof(Item));
        if (!memory)
            throw std::bad_alloc();
        return static_cast<Item*>(memory);
    }
    void deallocate(Item* memory, std::size_t) { std::free(memory); }
    /// It is what it has to be.
    void construct(Item*) {}
    template <class Value> void construct(Item* place, const Value& value) { *place = value; }
    bool operator==(const ZeroedMemory&) const = default;
};

/// Numbers that not every row has.
struct OptionalNumbers {
    std::vector<std::int64_t, ZeroedMemory<std::int64_t>> values; ///< 0 where there is none
    std::vector<std::uint8_t> missing;                            ///< 1 where there is none

    void push(std::optional<std::int64_t> value)
    {
        values.push_back(value.value_or(0));
        missing.push_back(!value);
    }
};

/// Texts out of a list of few, as positions in it; -1 where there is none.
struct Texts {
    std::vector<std::int32_t> codes;
    std::vector<std::string> categories;
};

/// The same of many rows.
struct ShortTexts {
    std::vector<std::int8_t> short_codes;
    std::vector<std::int32_t> codes; ///< instead, where there are more than 127 texts
    std::vector<std::string> categories;
};

/// Gives each text that it has not seen before the next number.
class TextIndex {
  public:
    std::int32_t code_of(std::string_view text)
    {
        const detail::NameKey key = detail::key_of_name(text);
        Recent& recent = m_recent[detail::slot_of_key(key)];
        if (recent.key == key && recent.code >= 0 &&
            (!(key & detail::not_exact) || m_texts[recent.code] == text))
            return recent.code;
        recent = {key, find_code(text)};
        return recent.code;
    }
    const std::vector<std::string>& texts() const { return m_texts; }

  private:
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    /// The text that was asked for last of those that share its place.
    struct Recent {
        detail::NameKey key = 0;
        std::int32_t code = -1;
    };

    std::int32_t find_code(std::string_view text)
    {
        if (const auto known = m_codes.find(text); known != m_codes.end())
            return known->second;
        m_texts.emplace_back(text);
        return m_codes.try_emplace(m_texts.back(), static_cast<std::int32_t>(m_texts.size() - 1))
            .first->second;
    }

    std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> m_codes;
    std::vector<std::string> m_texts;
    std::array<Recent, 64> m_recent; ///< by the key
};

/// Gives each path of regions a number; paths that read the same have the same one.
class PathIndex {
  public:
    /// -1 outside of regions.
    std::int32_t code_of(const RegionPaths& paths, std::int32_t path)
    {
        if (path == RegionPaths::outside)
            return -1;
        const auto place = static_cast<std::size_t>(path);
        if (place >= m_codes.size())
            m_codes.resize(place + 1, -1);
        if (m_codes[place] < 0)
            m_codes[place] = m_texts.code_of(paths.text(path));
        return m_codes[place];
    }
    const std::vector<std::string>& texts() const { return m_texts.texts(); }

  private:
    std::vector<std::int32_t> m_codes; ///< by path, -1: not used yet
    TextIndex m_texts;
};

} // namespace hdtrace
