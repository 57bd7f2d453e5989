// call_blocks.h - the calls of a thread, packed in blocks of which each can be read by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hdtrace/report/packed.h"

namespace hdtrace::report {

struct PackedCall {
    std::int64_t begin = 0; ///< nanoseconds after the beginning of the run
    std::int64_t end = 0;
    std::uint32_t depth = 0;
    std::uint32_t phrase = 0;
    std::uint32_t site = 0; ///< position in Project::call_sites, plus one; 0 is unknown
};

class CallBlocks {
  public:
    /// In the order of their begins, owners before what is nested in them.
    void add(const PackedCall& call, const std::vector<std::int64_t>& numbers);
    std::size_t size() const { return m_size; }
    /// A list of the blocks with their begins, ends, calls and bytes, and the blocks. Nothing may be added
    /// afterwards.
    Packed finish();

  private:
    static constexpr std::size_t per_block = 1024;

    void end_block();

    std::size_t m_size = 0, m_blocks = 0, m_in_block = 0;
    std::int64_t m_block_begin = 0, m_block_end = 0, m_previous_end = 0, m_listed_begin = 0;
    /// Similar numbers beside each other become fewer bytes.
    Packed m_gaps, m_durations, m_depths, m_phrases, m_sites, m_numbers;
    std::unordered_map<std::uint32_t, std::vector<std::int64_t>> m_last; ///< numbers of each phrase
    Packed m_list, m_all;
};

} // namespace hdtrace::report
