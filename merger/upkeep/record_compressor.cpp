#include "merger/upkeep/record_compressor.h"

#include "hdtrace/format/compact_head.h"
#include "hdtrace/format/errors.h"
#include "hdtrace/writer/compressor.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <optional>
#include <stdexcept>

namespace hdtrace::merger {

namespace {

constexpr std::uint64_t most_at_once = 1 << 20;

/// The bytes of a file, one part behind the other.
class Bytes {
  public:
    explicit Bytes(const std::string& path) : m_path(path), m_file(path, std::ios::binary)
    {
        if (!m_file)
            throw OpenError(path, errno);
    }

    /// Adds so many bytes to @p part, or what there is left of them.
    void add_to(std::string& part, std::uint64_t count)
    {
        for (std::uint64_t wanted; count > 0 && m_file; count -= wanted) {
            wanted = std::min(count, most_at_once); // a damaged file may tell any size
            const std::size_t size = part.size();
            part.resize(size + wanted);
            m_file.read(part.data() + size, static_cast<std::streamsize>(wanted));
            part.resize(size + static_cast<std::size_t>(m_file.gcount()));
        }
        if (m_file.bad())
            throw OpenError(m_path, EIO);
    }

  private:
    std::string m_path;
    std::ifstream m_file;
};

/// Of the next unit, with its bytes; nothing at the end, and where no unit begins.
std::optional<detail::CompactHead> read_head(Bytes& bytes, std::string& head)
{
    head.clear();
    bytes.add_to(head, detail::compact_lead_size);
    const std::size_t size = detail::size_of_compact_head(head);
    if (size == 0)
        return {};
    bytes.add_to(head, size - head.size());
    return head.size() == size ? detail::read_compact_head(head) : std::nullopt;
}

/// A unit or a block of records as it is compressed; nothing if it is so already, or not whole, or a unit
/// that would become larger, such as the root.
std::optional<std::string> compressed(Compressor& compressor, const detail::CompactHead& head,
                                      std::string_view unit)
{
    const std::size_t head_size = detail::size_of_compact_head(unit);
    const std::string_view records = unit.substr(head_size);
    if (head.body != CompactBody::records || records.size() + 1 < head.block.compressed_size)
        return {};
    std::string result(head_size + Compressor::bound(records.size()), '\0');
    const Text text = {records.data(), records.size()};
    const Text packed = head.is_block ? compressor.compress_block(result.data(), text, head.block)
                                      : compressor.compress(result.data(), text);
    if (packed.size == 0)
        throw std::runtime_error("it cannot be compressed");
    if (!head.is_block && packed.size >= unit.size())
        return {};
    result.resize(packed.size);
    return result;
}

} // namespace

bool compress_records(const std::string& from, TemporaryFile& to, const ByteProgress& progress)
{
    Compressor compressor;
    if (compressor.open(Compression::compact_zstd) != 0)
        throw std::runtime_error("there is no library that compresses so");
    Bytes bytes(from);
    bool is_changed = false;
    const auto copy = [&](std::string_view part) {
        to.write(part);
        progress(static_cast<std::int64_t>(part.size()));
    };
    std::string unit;
    while (const auto head = read_head(bytes, unit)) {
        bytes.add_to(unit, head->block.compressed_size - 1);
        const auto result = compressed(compressor, *head, unit);
        copy(result ? *result : unit);
        is_changed = is_changed || result;
    }
    for (; !unit.empty(); unit.clear(), bytes.add_to(unit, most_at_once)) // what is damaged stays so
        copy(unit);
    return is_changed;
}

} // namespace hdtrace::merger
