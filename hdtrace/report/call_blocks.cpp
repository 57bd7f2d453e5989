#include "hdtrace/report/call_blocks.h"

#include <algorithm>

namespace hdtrace::report {

void CallBlocks::add(const PackedCall& call, const std::vector<std::int64_t>& numbers)
{
    if (m_in_block == 0) {
        m_block_begin = m_previous_end = call.begin;
        m_block_end = call.end;
    }
    m_gaps.add_signed(call.begin - m_previous_end);
    m_durations.add(static_cast<std::uint64_t>(std::max<std::int64_t>(call.end - call.begin, 0)));
    m_depths.add(call.depth);
    m_phrases.add(call.phrase);
    m_sites.add(call.site);
    std::vector<std::int64_t>& last = m_last[call.phrase];
    last.resize(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        m_numbers.add_signed(numbers[i] - last[i]);
        last[i] = numbers[i];
    }
    m_previous_end = std::max(call.begin, call.end);
    m_block_end = std::max(m_block_end, call.end);
    ++m_size;
    if (++m_in_block == per_block)
        end_block();
}

void CallBlocks::end_block()
{
    const std::size_t before = m_all.bytes().size();
    for (Packed* const column : {&m_gaps, &m_durations, &m_depths, &m_phrases, &m_sites, &m_numbers}) {
        m_all.add_all(*column);
        column->clear();
    }
    m_list.add_signed(m_block_begin - m_listed_begin);
    m_list.add(static_cast<std::uint64_t>(std::max<std::int64_t>(m_block_end - m_block_begin, 0)));
    m_list.add(m_in_block);
    m_list.add(m_all.bytes().size() - before);
    m_listed_begin = m_block_begin;
    ++m_blocks;
    m_in_block = 0;
    m_last.clear();
}

Packed CallBlocks::finish()
{
    if (m_in_block > 0)
        end_block();
    Packed result;
    result.add(m_blocks);
    result.add_all(m_list);
    result.add_all(m_all);
    m_all.clear();
    return result;
}

} // namespace hdtrace::report
