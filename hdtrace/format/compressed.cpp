#include "hdtrace/format/compressed.h"

#include <algorithm>
#include <array>
#include <new>

#include <zlib.h>
#include <zstd.h>

#include "hdtrace/compact_form.h"
#include "hdtrace/format/compact_decoder.h"
#include "hdtrace/format/decoder.h"
#include "hdtrace/format/interruption.h"
#include "hdtrace/format/packed_file.h"
#include "hdtrace/trace_form.h"

namespace hdtrace::detail {

namespace {

constexpr std::string_view zstd_magic = "\x28\xb5\x2f\xfd", gzip_magic = "\x1f\x8b\x08";
constexpr std::size_t input_size = 64 * 1024;
constexpr std::size_t search_size = 8 * 1024;    // a block is of this order
constexpr std::int64_t always_allowed = 4 << 20; // bytes of text, however small the file is

template <std::size_t Size> std::string_view bytes_of(const unsigned char (&lead)[Size])
{
    return {reinterpret_cast<const char*>(lead), Size};
}

bool is_compact(std::string_view first_bytes)
{
    return first_bytes.starts_with(bytes_of(compact_unit_lead)) ||
           first_bytes.starts_with(bytes_of(compact_block_lead));
}

// A frame of zstd's that its decoders skip: ours before a block.
bool is_skippable(std::string_view first_bytes)
{
    return first_bytes.size() >= magic_size && (first_bytes[0] & 0xf0) == 0x50 &&
           first_bytes.substr(1).starts_with("\x2a\x4d\x18");
}

class ZstdDecoder : public Decoder {
  public:
    ZstdDecoder() : m_context(ZSTD_createDCtx())
    {
        if (!m_context)
            throw std::bad_alloc();
    }
    void restart() override { ZSTD_DCtx_reset(m_context.get(), ZSTD_reset_session_only); }
    Progress decode(std::string_view from, char* to, std::size_t size) override
    {
        ZSTD_inBuffer in = {from.data(), from.size(), 0};
        ZSTD_outBuffer out = {to, size, 0};
        const std::size_t result = ZSTD_decompressStream(m_context.get(), &out, &in);
        return {in.pos, out.pos, ZSTD_isError(result) != 0};
    }

  private:
    struct Free {
        void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
    };
    std::unique_ptr<ZSTD_DCtx, Free> m_context;
};

class GzipDecoder : public Decoder {
  public:
    GzipDecoder()
    {
        constexpr int gzip_only = 15 + 16;
        if (inflateInit2(&m_stream, gzip_only) != Z_OK)
            throw std::bad_alloc();
    }
    ~GzipDecoder() override { inflateEnd(&m_stream); }
    GzipDecoder(const GzipDecoder&) = delete;
    GzipDecoder& operator=(const GzipDecoder&) = delete;

    void restart() override { inflateReset(&m_stream); }
    Progress decode(std::string_view from, char* to, std::size_t size) override
    {
        m_stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(from.data()));
        m_stream.avail_in = static_cast<uInt>(from.size());
        m_stream.next_out = reinterpret_cast<Bytef*>(to);
        m_stream.avail_out = static_cast<uInt>(std::min(size, std::size_t{1} << 30));
        const uInt room = m_stream.avail_out;
        const int result = inflate(&m_stream, Z_NO_FLUSH);
        const Progress progress = {from.size() - m_stream.avail_in, room - m_stream.avail_out,
                                   result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR};
        if (result == Z_STREAM_END)
            restart(); // the next member
        return progress;
    }

  private:
    z_stream m_stream = {};
};

std::string block_start(std::string_view lead)
{
    return std::string(lead).append(block_mark, sizeof block_mark);
}

} // namespace

std::optional<Compression> form_of(std::string_view first_bytes)
{
    if (first_bytes.starts_with(gzip_magic))
        return Compression::gzip;
    if (first_bytes.starts_with(zstd_magic) || is_skippable(first_bytes))
        return Compression::zstd;
    if (is_compact(first_bytes))
        return Compression::compact_zstd;
    return {};
}

bool is_compressed(std::string_view first_bytes)
{
    return form_of(first_bytes).has_value();
}

std::string_view plain_name(std::string_view path)
{
    for (const Compression form : compressed_forms) {
        const std::string_view suffix = suffix_of(form);
        if (path.ends_with(suffix))
            return path.substr(0, path.size() - suffix.size());
    }
    return path;
}

std::string existing_name(const std::string& path)
{
    if (!is_there(path)) {
        for (const Compression form : compressed_forms) {
            if (const std::string name = path + suffix_of(form); is_there(name))
                return name;
        }
    }
    return path;
}

bool is_there_in_some_form(const std::string& path)
{
    return is_there(existing_name(path));
}

CompressedText::CompressedText(ReadAt read_at, std::int64_t file_size)
    : m_read_at(std::move(read_at)), m_file_size(file_size)
{
    if (__builtin_mul_overflow(file_size, most_expansion, &m_text_limit) ||
        __builtin_add_overflow(m_text_limit, always_allowed, &m_text_limit))
        m_text_limit = INT64_MAX;
    std::string magic(magic_size, '\0');
    magic.resize(m_read_at(0, magic.data(), magic.size()));
    const std::optional<Compression> form = form_of(magic);
    if (form == Compression::gzip) {
        m_decoder = std::make_unique<GzipDecoder>();
        m_block_start = block_start(bytes_of(gzip_block_lead));
    } else if (form == Compression::compact_zstd) {
        m_decoder = std::make_unique<CompactDecoder>(std::make_unique<ZstdDecoder>());
        m_block_start = block_start(bytes_of(compact_block_lead));
    } else {
        m_decoder = std::make_unique<ZstdDecoder>();
        m_block_start = block_start(bytes_of(zstd_block_lead));
    }
    m_start_size = m_block_start.size() - sizeof block_mark + block_head_size;
}

CompressedText::~CompressedText() = default;

std::size_t CompressedText::read(char* target, std::size_t size)
{
    std::size_t done = 0;
    bool has_more = true; // within the decoder, without further input
    while (done < size && m_refusal.empty()) {
        check_for_interruption();
        if (m_undecoded.empty() && !has_more) {
            m_input.resize(input_size);
            m_input.resize(m_read_at(m_next_input, m_input.data(), m_input.size()));
            if (m_input.empty() || !is_as_it_was())
                break;
            m_next_input += static_cast<std::int64_t>(m_input.size());
            m_undecoded = m_input;
        }
        const Decoder::Progress progress = m_decoder->decode(m_undecoded, target + done, size - done);
        m_undecoded.remove_prefix(progress.read);
        done += progress.written;
        has_more = progress.written > 0;
        if (progress.is_damaged && !is_as_it_was())
            break;
        if (progress.is_damaged)
            m_refusal = "the compressed data before byte " +
                        std::to_string(m_next_input - static_cast<std::int64_t>(m_undecoded.size())) +
                        " of the file is damaged";
    }
    m_text_offset += static_cast<std::int64_t>(done);
    if (m_text_offset > m_text_limit && m_refusal.empty())
        m_refusal = "the text is more than " + std::to_string(most_expansion) +
                    " times as large as the compressed file";
    return done;
}

// Else a process has written over what was read, and what follows is of something else: to go on would make
// calls of that which never were. What was read is whole, and ends here.
bool CompressedText::is_as_it_was() const
{
    const Decoder::Passing passing = m_decoder->passing();
    const auto taken = m_next_input - static_cast<std::int64_t>(m_undecoded.size());
    if (passing.head.empty())
        return true;
    std::string now(passing.head.size(), '\0');
    now.resize(m_read_at(taken - static_cast<std::int64_t>(passing.taken), now.data(), now.size()));
    return now == passing.head;
}

// The first block that begins in a part of the file.
std::optional<CompressedText::Block> CompressedText::next_block(std::int64_t begin, std::int64_t end)
{
    std::string window(search_size, '\0');
    while (begin < end) {
        window.resize(m_read_at(begin, window.data(), window.size()));
        for (std::size_t at = window.find(m_block_start);
             at != window.npos && at + m_start_size <= window.size();
             at = window.find(m_block_start, at + 1)) {
            const std::int64_t place = begin + static_cast<std::int64_t>(at);
            if (place >= end)
                return {};
            if (const auto block = block_at(place, window.data() + at + m_start_size - block_head_size))
                return block;
        }
        if (window.size() < search_size)
            return {};
        begin += static_cast<std::int64_t>(window.size() - m_start_size + 1);
    }
    return {};
}

std::optional<CompressedText::Block> CompressedText::block_at(std::int64_t begin, const char* head) const
{
    Block block;
    get_block_head(head, block.head);
    const auto limit = static_cast<std::uint64_t>(m_text_limit);
    if (block.head.text_offset > limit || block.head.text_size > limit)
        return {};
    // Where the file was cut off, its last block ends with it.
    const std::int64_t behind_head = begin + static_cast<std::int64_t>(m_start_size);
    const auto rest = static_cast<std::uint64_t>(std::max<std::int64_t>(0, m_file_size - behind_head));
    block.begin = begin;
    block.end = behind_head + static_cast<std::int64_t>(std::min(block.head.compressed_size, rest));
    return block;
}

// By bisection: @p holds for the first blocks, and then no more. If for none, what stands before the blocks.
CompressedText::Block CompressedText::last_block_where(const std::function<bool(const BlockHead&)>& holds)
{
    Block last;
    for (std::int64_t end = m_file_size; last.end < end;) {
        const std::int64_t middle = last.end + (end - last.end) / 2;
        const std::optional<Block> block = next_block(middle, end);
        if (block && holds(block->head))
            last = *block;
        else
            end = middle;
    }
    return last;
}

void CompressedText::start_at(const Block& block)
{
    m_decoder->restart();
    m_undecoded = {};
    m_refusal.clear();
    m_next_input = block.begin;
    m_text_offset = static_cast<std::int64_t>(block.head.text_offset);
}

void CompressedText::skip_text(std::int64_t size)
{
    std::array<char, input_size> skipped;
    while (size > 0) {
        const std::size_t count = read(skipped.data(), std::min<std::uint64_t>(size, skipped.size()));
        if (count == 0)
            return;
        size -= static_cast<std::int64_t>(count);
    }
}

std::int64_t CompressedText::size()
{
    if (m_size < 0) {
        const std::int64_t place = m_text_offset;
        start_at(last_block_where([](const BlockHead&) { return true; }));
        skip_text(INT64_MAX);
        m_size = m_text_offset;
        seek(place);
    }
    return m_size;
}

void CompressedText::seek(std::int64_t offset)
{
    start_at(last_block_where(
        [&](const BlockHead& head) { return head.text_offset <= static_cast<std::uint64_t>(offset); }));
    skip_text(offset - m_text_offset);
}

TextNotes* CompressedText::begin_notes()
{
    return m_decoder->begin_notes();
}

std::int64_t CompressedText::offset_of_time(std::int64_t time)
{
    const Block before = last_block_where(
        [&](const BlockHead& head) { return static_cast<std::int64_t>(head.last_end) < time; });
    return static_cast<std::int64_t>(before.head.text_offset + before.head.text_size);
}

} // namespace hdtrace::detail
