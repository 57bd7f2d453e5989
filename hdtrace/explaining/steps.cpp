#include "hdtrace/explaining/steps.h"

#include <limits>
#include <utility>

namespace hdtrace {

void Steps::push_back(const Step& step)
{
    m_last.push_back(step);
    if (m_last.size() < per_block)
        return;
    Block block{m_last.front().begin, pack(m_last), {}};
    if (!block.packed)
        block.as_is = std::move(m_last);
    m_blocks.push_back(std::move(block));
    m_last.clear();
}

/// Null if one of them needs more bits.
std::unique_ptr<const Steps::Packed> Steps::pack(const std::vector<Step>& steps)
{
    constexpr std::uint64_t most_begins = std::uint64_t{1} << (64 - place_bits);
    auto packed = std::make_unique<Packed>();
    for (std::size_t i = 0; i < per_block; ++i) {
        const auto& [begin, end, place] = steps[i];
        // Modulo 2^64, which is the right difference unless it is negative: then it is too large.
        const std::uint64_t since =
            static_cast<std::uint64_t>(begin) - static_cast<std::uint64_t>(steps.front().begin);
        const std::uint64_t duration = static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin);
        if (since >= most_begins || duration > std::numeric_limits<std::uint32_t>::max() ||
            place >= most_places)
            return nullptr;
        packed->begins_and_places[i] = since << place_bits | place;
        packed->durations[i] = static_cast<std::uint32_t>(duration);
    }
    return packed;
}

} // namespace hdtrace
