// columns.h - columns of a table, which Python takes over without copying.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hdtrace/matching/regions.h"

namespace hdtrace {

template <class Number> struct Numbers {
    std::vector<Number> values;
};

/// Numbers that not every row has.
struct OptionalNumbers {
    std::vector<std::int64_t> values;
    std::vector<std::uint8_t> missing; ///< 1 where there is none

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

/// Gives each text that it has not seen before the next number.
class TextIndex {
  public:
    std::int32_t code_of(std::string_view text)
    {
        if (const auto known = m_codes.find(text); known != m_codes.end())
            return known->second;
        m_texts.emplace_back(text);
        return m_codes.try_emplace(m_texts.back(), static_cast<std::int32_t>(m_texts.size() - 1))
            .first->second;
    }
    const std::vector<std::string>& texts() const { return m_texts; }

  private:
    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };

    std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> m_codes;
    std::vector<std::string> m_texts;
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
