// steps.h - what a thread did, call by call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace hdtrace {

/// A call of MPI that no other one made, or the moment in which a region of the program's own begins or ends.
/// Between steps the program computes.
struct Step {
    std::int64_t begin = 0; ///< nanoseconds since the epoch
    std::int64_t end = 0;
    std::uint32_t place = 0; ///< position in History::places

    bool operator==(const Step&) const = default;
};

/// A list of steps that only grows, in the order of their beginnings. As there are as many as calls, those
/// that are short and follow each other soon need 12 bytes each; any others are kept as well.
class Steps {
  public:
    std::size_t size() const { return m_blocks.size() * per_block + m_last.size(); }
    bool empty() const { return size() == 0; }
    Step operator[](std::size_t i) const
    {
        const std::size_t block = i / per_block;
        return block < m_blocks.size() ? m_blocks[block].at(i % per_block) : m_last[i % per_block];
    }
    Step back() const { return (*this)[size() - 1]; }
    void push_back(const Step& step);

    static constexpr std::size_t per_block = 256;

  private:
    struct Packed {
        std::array<std::uint64_t, per_block> begins_and_places; ///< begins since that of the block
        std::array<std::uint32_t, per_block> durations;
    };
    /// Full: either packed, or as it is where a step needs more bits.
    struct Block {
        std::int64_t begin = 0;
        std::unique_ptr<const Packed> packed;
        std::vector<Step> as_is;

        Step at(std::size_t i) const
        {
            if (!packed)
                return as_is[i];
            const std::uint64_t both = packed->begins_and_places[i];
            const std::int64_t step_begin = begin + static_cast<std::int64_t>(both >> place_bits);
            return {step_begin, step_begin + packed->durations[i],
                    static_cast<std::uint32_t>(both & (most_places - 1))};
        }
    };

    static constexpr unsigned place_bits = 24;
    static constexpr std::uint64_t most_places = std::uint64_t{1} << place_bits;

    static std::unique_ptr<const Packed> pack(const std::vector<Step>& steps);

    std::vector<Block> m_blocks;
    std::vector<Step> m_last; ///< that are not a whole block yet
};

} // namespace hdtrace
