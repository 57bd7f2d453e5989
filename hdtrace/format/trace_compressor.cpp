#include "hdtrace/format/trace_compressor.h"

#include "hdtrace/writer/compact_lines.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace hdtrace {

namespace {

constexpr std::size_t block_size = 128 * 1024;

/// Of the declaration and the root's tag, on two lines as we write them; 0 if the text begins in another way.
std::size_t size_of_root(std::string_view text)
{
    const std::size_t second_line = text.find('\n') + 1;
    const std::size_t end = text.find('\n', second_line) + 1;
    const std::string_view tag = text.substr(second_line, end - second_line);
    return tag.starts_with("<Program ") && tag.find(" version='1'") != tag.npos && tag.ends_with(">\n") ? end
                                                                                                        : 0;
}

/// Of whole lines, without the last one if the trace ends on it.
std::size_t size_of_lines(std::string_view text)
{
    const std::size_t whole = text.rfind('\n') + 1;
    return text.substr(0, whole).ends_with(end_tag) ? text.rfind('\n', whole - 2) + 1 : whole;
}

} // namespace

TraceCompressor::TraceCompressor(Compression compression, Write write) : m_write(std::move(write))
{
    if (m_compressor.open(compression) != 0)
        throw std::runtime_error("there is no library that compresses so");
}

void TraceCompressor::write(std::string_view text)
{
    m_text += text;
    if (m_text.size() < block_size || text.find('\n') == text.npos)
        return;
    take_root();
    const std::size_t whole = size_of_lines(m_text);
    pack(std::string_view(m_text).substr(0, whole), m_has_heads);
    m_text.erase(0, whole);
}

void TraceCompressor::close()
{
    take_root();
    const std::string_view rest = m_text;
    const std::size_t whole = size_of_lines(rest);
    pack(rest.substr(0, whole), m_has_heads);
    pack(rest.substr(whole), false);
    m_text.clear();
}

void TraceCompressor::take_root()
{
    if (std::exchange(m_has_root, true))
        return;
    const std::size_t size = size_of_root(m_text);
    m_has_heads = size > 0;
    pack(std::string_view(m_text).substr(0, size), false);
    m_text.erase(0, size);
}

void TraceCompressor::pack(std::string_view text, bool is_block)
{
    if (text.empty())
        return;
    const Text plain = {text.data(), text.size()};
    const Text body = m_compressor.is_compact() ? as_record(text) : plain;
    m_compressed.resize(Compressor::bound(body.size));
    Text packed;
    if (is_block) {
        packed = m_compressor.compress_block(m_compressed.data(), body, m_position.add_text(plain));
    } else {
        packed = m_compressor.compress(m_compressed.data(), body);
        m_position.skip(plain);
    }
    if (packed.size == 0)
        throw std::runtime_error("it cannot be compressed");
    m_write({packed.data, packed.size});
}

Text TraceCompressor::as_record(std::string_view text)
{
    m_record.resize(CompactLines::room_for_text_head + text.size());
    char* const begin = CompactLines::begin_text(m_record.data());
    const char* const end = CompactLines::end_text(begin, std::copy(text.begin(), text.end(), begin));
    return {m_record.data(), static_cast<std::size_t>(end - m_record.data())};
}

} // namespace hdtrace
