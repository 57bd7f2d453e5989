// rank_table.h - something of each process, found by its rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace hdtrace {

/// Like a map by rank, of which references stay valid until clear(). Where there are very many processes,
/// each call is of another one: what is looked up must be found with one look into memory.
template <class Value> class RankTable {
  public:
    /// Made if there is none.
    Value& operator[](std::int64_t rank)
    {
        if (!is_usual(rank))
            return m_others[rank];
        if (place(rank) >= m_values.size())
            m_values.resize(place(rank) + 1);
        std::unique_ptr<Value>& value = m_values[place(rank)];
        if (!value) {
            value = std::make_unique<Value>();
            ++m_count;
        }
        return *value;
    }

    /// Null if there is none.
    Value* find(std::int64_t rank) { return const_cast<Value*>(std::as_const(*this).find(rank)); }
    const Value* find(std::int64_t rank) const
    {
        if (is_usual(rank))
            return place(rank) < m_values.size() ? m_values[place(rank)].get() : nullptr;
        const auto other = m_others.find(rank);
        return other == m_others.end() ? nullptr : &other->second;
    }

    /// visit(rank, value), in the order of the ranks from 0 on; then those of unusual ranks.
    template <class Visit> void for_each(Visit&& visit)
    {
        for (std::size_t i = 0; i < m_values.size(); ++i)
            if (m_values[i])
                visit(static_cast<std::int64_t>(i), *m_values[i]);
        for (auto& [rank, value] : m_others)
            visit(rank, value);
    }
    template <class Visit> void for_each(Visit&& visit) const
    {
        const_cast<RankTable*>(this)->for_each(
            [&](std::int64_t rank, Value& value) { visit(rank, std::as_const(value)); });
    }

    std::size_t size() const { return m_count + m_others.size(); }
    bool empty() const { return size() == 0; }
    void clear() { *this = {}; }

  private:
    /// Projects may say anything: only so many ranks have a place in a row.
    static constexpr std::int64_t most_in_a_row = std::int64_t{1} << 24;

    static bool is_usual(std::int64_t rank) { return rank >= 0 && rank < most_in_a_row; }
    static std::size_t place(std::int64_t rank) { return static_cast<std::size_t>(rank); }

    std::vector<std::unique_ptr<Value>> m_values; ///< by rank
    std::size_t m_count = 0;                      ///< of m_values that are there
    std::map<std::int64_t, Value> m_others;
};

} // namespace hdtrace
