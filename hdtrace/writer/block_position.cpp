#include "hdtrace/writer/block_position.h"

#include "hdtrace/writer/clock.h"

namespace hdtrace {

namespace {

bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

uint64_t count_lines(Text text)
{
    uint64_t count = 0;
    const char* const end = text.data + text.size;
    for (const char* at = text.data;
         (at = static_cast<const char*>(memchr(at, '\n', static_cast<size_t>(end - at)))) != nullptr; ++at)
        ++count;
    return count;
}

// As we write it.
uint64_t read_time(const char* text)
{
    uint64_t time = 0, unit = nanoseconds_per_second;
    for (; is_digit(*text); ++text)
        time = 10 * time + unit * static_cast<uint64_t>(*text - '0');
    for (++text; is_digit(*text); ++text)
        time += (unit /= 10) * static_cast<uint64_t>(*text - '0');
    return time;
}

// When the state or event of a line ended: the last time on it, since children have none.
uint64_t end_of_line(const char* begin, const char* end)
{
    constexpr Text names[] = {{" end='", 6}, {" time='", 7}};
    for (const char* at = end; --at > begin;) {
        for (const Text& name : names) {
            if (static_cast<size_t>(end - at) > name.size && memcmp(at, name.data, name.size) == 0)
                return read_time(at + name.size);
        }
    }
    return 0;
}

uint64_t end_of_first(Text lines)
{
    return end_of_line(lines.data, static_cast<const char*>(memchr(lines.data, '\n', lines.size)));
}

uint64_t end_of_last(Text lines)
{
    const char* const end = lines.data + lines.size - 1;
    const void* const before = memrchr(lines.data, '\n', lines.size - 1);
    return end_of_line(before != nullptr ? static_cast<const char*>(before) + 1 : lines.data, end);
}

} // namespace

BlockHead BlockPosition::add_text(Text lines)
{
    const BlockHead head = {0, lines.size, m_offset, m_line, end_of_first(lines), end_of_last(lines)};
    skip(lines);
    return head;
}

BlockHead BlockPosition::add_records(BlockHead lines)
{
    const BlockHead head = {0, lines.text_size, m_offset, m_line, lines.first_end, lines.last_end};
    m_offset += lines.text_size;
    m_line += lines.first_line;
    return head;
}

void BlockPosition::skip(Text text)
{
    m_offset += text.size;
    m_line += count_lines(text);
}

} // namespace hdtrace
