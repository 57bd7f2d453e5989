#include "hdtrace/format/compact_decoder.h"

#include <algorithm>
#include <cstring>

#include "hdtrace/format/compact_head.h"

namespace hdtrace::detail {

namespace {

constexpr std::size_t records_at_once = 64 * 1024;

} // namespace

void CompactDecoder::restart()
{
    m_compact.restart();
    m_head.clear();
    m_passing.clear();
    m_taken = 0;
    m_body_left = 0;
    m_is_in_body = m_is_damaged = false;
    m_records.clear();
    m_text.clear();
    m_record = m_handed_out = 0;
}

Decoder::Progress CompactDecoder::decode(std::string_view from, char* to, std::size_t size)
{
    Progress progress;
    std::string_view left = from;
    do {
        const std::size_t count = std::min(size - progress.written, m_text.size() - m_handed_out);
        std::memcpy(to + progress.written, m_text.data() + m_handed_out, count);
        m_handed_out += count;
        progress.written += count;
    } while (progress.written < size && (make_text(to, size, progress.written) || take_more(left)));
    progress.read = from.size() - left.size();
    progress.is_damaged = m_is_damaged && m_handed_out == m_text.size();
    return progress;
}

// Behind what was written already, and what has no room to m_text.
bool CompactDecoder::make_text(char* to, std::size_t size, std::size_t& written)
{
    m_text.clear();
    m_handed_out = 0;
    if (m_is_damaged)
        return false;
    TextOutput out(to + written, size - written, m_text);
    m_record += m_compact.decode(std::string_view(m_records).substr(m_record), out);
    written += out.written();
    m_is_damaged = m_compact.is_damaged();
    return out.size() > 0;
}

// False if there is nothing to take.
bool CompactDecoder::take_more(std::string_view& from)
{
    if (m_is_damaged)
        return false;
    return m_is_in_body ? take_body(from) : take_head(from);
}

bool CompactDecoder::take_head(std::string_view& from)
{
    const auto fill = [&](std::size_t size) {
        const std::size_t count = std::min(size - std::min(size, m_head.size()), from.size());
        m_head += from.substr(0, count);
        from.remove_prefix(count);
        m_taken += count;
        return m_head.size() >= size;
    };
    if (!fill(compact_lead_size))
        return false;
    const std::size_t size = size_of_compact_head(m_head);
    if (size > 0 && !fill(size))
        return false;
    const std::optional<CompactHead> head = size > 0 ? read_compact_head(m_head) : std::nullopt;
    m_is_damaged = !head;
    if (m_is_damaged)
        return false;
    m_is_compressed = head->body == CompactBody::zstd;
    m_body_left = head->block.compressed_size - 1;
    m_is_in_body = true;
    if (!head->is_block) {
        m_passing = m_head;
        m_taken = m_head.size();
    }
    m_head.clear();
    m_compact.begin_unit();
    m_zstd->restart();
    return true;
}

bool CompactDecoder::take_body(std::string_view& from)
{
    m_records.erase(0, m_record);
    m_record = 0;
    const std::string_view part = from.substr(0, std::min<std::uint64_t>(m_body_left, records_at_once));
    const std::size_t size = m_records.size();
    Progress progress = {part.size(), part.size(), false};
    if (m_is_compressed) {
        m_records.resize(size + records_at_once);
        progress = m_zstd->decode(part, m_records.data() + size, records_at_once);
        m_records.resize(size + progress.written);
    } else {
        m_records += part;
    }
    from.remove_prefix(progress.read);
    m_taken += progress.read;
    m_body_left -= progress.read;
    m_is_damaged = progress.is_damaged;
    if (progress.read > 0 || progress.written > 0)
        return !m_is_damaged;
    if (m_body_left > 0 || m_is_damaged)
        return false;
    m_is_in_body = false;
    m_is_damaged = !m_records.empty() || !m_compact.is_complete();
    return !m_is_damaged;
}

} // namespace hdtrace::detail
