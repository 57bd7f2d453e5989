// series.h - a list that only grows, without a second copy of itself while it does, or while it is handed
// out.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
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

    void push_back(Item item)
    {
        if (m_size % per_block == 0)
            m_blocks.push_back(std::make_unique<Block>());
        (*this)[m_size++] = std::move(item);
    }

    /// Gives use(item) all items in their order, and forgets each block of them behind its last one.
    void take_all(auto use)
    {
        for (std::size_t i = 0; i < m_size; ++i) {
            use(std::move((*this)[i]));
            if (i % per_block == per_block - 1)
                m_blocks[i / per_block].reset();
        }
        *this = {};
    }

  private:
    // A block of many small items is given back to the system as soon as it is not needed.
    static constexpr std::size_t per_block = 8192;
    using Block = std::array<Item, per_block>;

    std::vector<std::unique_ptr<Block>> m_blocks;
    std::size_t m_size = 0;
};

} // namespace hdtrace
