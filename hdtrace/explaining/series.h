// series.h - a list that only grows, without a second copy of itself while it does.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace hdtrace {

template <class Item> class Series {
  public:
    std::size_t size() const { return m_size; }
    bool empty() const { return m_size == 0; }
    Item& operator[](std::size_t i) { return (*m_blocks[i / per_block])[i % per_block]; }
    const Item& operator[](std::size_t i) const { return (*m_blocks[i / per_block])[i % per_block]; }
    Item& back() { return (*this)[m_size - 1]; }
    const Item& back() const { return (*this)[m_size - 1]; }

    void push_back(const Item& item)
    {
        if (m_size % per_block == 0)
            m_blocks.push_back(std::make_unique<Block>());
        (*this)[m_size++] = item;
    }

  private:
    static constexpr std::size_t per_block = 256;
    using Block = std::array<Item, per_block>;

    std::vector<std::unique_ptr<Block>> m_blocks;
    std::size_t m_size = 0;
};

} // namespace hdtrace
