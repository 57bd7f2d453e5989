#include "hdtrace/writer/line_matcher.h"

#include <string.h>

namespace hdtrace {

namespace {

constexpr size_t shortest_copy = 6;
constexpr size_t word_size = sizeof(uint64_t);

uint64_t load(const char* at)
{
    uint64_t word;
    memcpy(&word, at, word_size);
    return word;
}

size_t common_length(const char* at, const char* other, const char* end)
{
    const char* const begin = at;
    for (; static_cast<size_t>(end - at) >= word_size; at += word_size, other += word_size) {
        const uint64_t difference = load(at) ^ load(other);
        if (difference != 0)
            return static_cast<size_t>(at - begin) + static_cast<size_t>(__builtin_ctzll(difference)) / 8;
    }
    for (; at < end && *at == *other; ++at, ++other) {
    }
    return static_cast<size_t>(at - begin);
}

bool is_in_number(char character)
{
    return (character >= '0' && character <= '9') || character == '-';
}

const char* end_of_number(const char* at, const char* end)
{
    while (at < end && is_in_number(*at))
        ++at;
    return at;
}

const char* next_word(const char* at, const char* end)
{
    do
        ++at;
    while (at < end && *at != ' ' && *at != '<');
    return at;
}

} // namespace

size_t LineMatcher::find_copies(Text text)
{
    const size_t size = text.size < longest_text ? text.size : longest_text;
    m_begin = m_literals = text.data;
    m_end = m_begin + size;
    m_aligned = nullptr;
    m_distance = size + 1;
    m_count = 0;
    memset(m_slots, 0, sizeof m_slots);

    const char* at = m_begin;
    while (at < m_end && m_count < most_copies - 1) {
        const char* const source = find_source(at);
        m_aligned = nullptr;
        if (source == nullptr) {
            at = next_word(at, m_end);
            continue;
        }
        const char* const end = cut_at_line(at, at + common_length(at, source, m_end));
        const size_t length = static_cast<size_t>(end - at);
        add(at, source, length);
        remember_lines(at, end);
        at = end_of_number(end, m_end);
        const char* const rest = end_of_number(source + length, end);
        if (at > end || rest > source + length)
            m_aligned = rest < at ? rest : nullptr;
    }
    m_copies[m_count++] = {0, static_cast<unsigned>(at - m_literals), 0, 0};
    return static_cast<size_t>(at - m_begin);
}

// Where the bytes from `at` on stood before; null if nowhere.
const char* LineMatcher::find_source(const char* at)
{
    if (static_cast<size_t>(m_end - at) < word_size)
        return nullptr;
    const auto fits = [&](const char* source) {
        return common_length(at, source, at + word_size) >= shortest_copy;
    };
    if (m_aligned != nullptr && fits(m_aligned))
        return m_aligned;
    if (static_cast<size_t>(at - m_begin) >= m_distance && fits(at - m_distance))
        return at - m_distance;
    uint32_t& slot = slot_of(at);
    const char* const place = slot > 0 ? m_begin + slot - 1 : nullptr;
    slot = place_of(at);
    return place != nullptr && fits(place) ? place : nullptr;
}

// If a copy ends in the name of a call, another line is a better model for this one.
const char* LineMatcher::cut_at_line(const char* begin, const char* end) const
{
    if (end == m_end)
        return end;
    for (const char* at = end; at > begin && *at != ' '; --at) {
        if (at[-1] == '\n')
            return static_cast<size_t>(at - begin) >= shortest_copy ? at : end;
    }
    return end;
}

// Lines that begin within a copy.
void LineMatcher::remember_lines(const char* begin, const char* end)
{
    const char* at = begin;
    while ((at = static_cast<const char*>(memchr(at, '\n', static_cast<size_t>(end - at)))) != nullptr) {
        if (++at == end || static_cast<size_t>(m_end - at) < word_size)
            return;
        slot_of(at) = place_of(at);
    }
}

uint32_t& LineMatcher::slot_of(const char* at)
{
    return m_slots[load(at) * 0x9E37'79B1'85EB'CA87 >> (64 - slot_bits)];
}

void LineMatcher::add(const char* begin, const char* source, size_t length)
{
    m_distance = static_cast<size_t>(begin - source);
    m_copies[m_count++] = {static_cast<unsigned>(m_distance), static_cast<unsigned>(begin - m_literals),
                           static_cast<unsigned>(length), 0};
    m_literals = begin + length;
}

} // namespace hdtrace
