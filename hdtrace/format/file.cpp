#include "hdtrace/format/file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hdtrace/format/errors.h"
#include "hdtrace/format/interruption.h"

namespace hdtrace::detail {
namespace {

constexpr std::int64_t longest_line = 256 << 20;
// Of a compressed file, however small it is; and how much more for each of its bytes. Calls of collective
// operations with a child for each process are compressed to a hundredth.
constexpr std::int64_t always_allowed_items = 1 << 20, items_per_byte = 10;
constexpr std::int64_t always_allowed_line = 4 << 20, line_per_byte = 200;

} // namespace

std::size_t TextSource::read(char* target, std::size_t size)
{
    const std::size_t count = m_rest.copy(target, size);
    m_rest.remove_prefix(count);
    return count;
}

File::File(const std::string& path) : m_place(place_of(existing_name(path)))
{
    open();
    if (m_error)
        throw OpenError(path, m_error);
    struct stat status;
    m_is_seekable = fstat(m_descriptor, &status) == 0 && S_ISREG(status.st_mode);
    if (!m_is_seekable)
        return;
    m_size = m_place.size >= 0 ? m_place.size : status.st_size;
    char magic[magic_size];
    const auto read_file = [this](std::int64_t offset, char* target, std::size_t size) {
        return read_at(offset, target, size);
    };
    if (is_compressed({magic, read_at(0, magic, sizeof magic)}))
        m_compressed = std::make_unique<CompressedText>(read_file, m_size);
}

File::~File()
{
    close();
}

void File::open()
{
    while ((m_descriptor = ::open(m_place.path.c_str(), O_RDONLY | O_CLOEXEC)) < 0 && errno == EINTR)
        check_for_interruption_now();
    if (m_descriptor < 0)
        m_error = errno;
}

void File::close()
{
    if (m_descriptor >= 0)
        ::close(std::exchange(m_descriptor, -1));
}

void File::suspend()
{
    if (m_is_seekable)
        close();
}

void File::seek(std::int64_t offset)
{
    if (m_compressed)
        m_compressed->seek(offset);
    else
        m_offset = offset;
}

std::size_t File::read(char* target, std::size_t size)
{
    if (m_compressed)
        return m_compressed->read(target, size);
    const std::size_t count = read_at(m_offset, target, size);
    m_offset += static_cast<std::int64_t>(count);
    return count;
}

std::size_t File::most_items() const
{
    return m_compressed ? always_allowed_items + items_per_byte * m_size : ByteSource::most_items();
}

std::size_t File::line_limit() const
{
    return m_compressed ? std::min(longest_line, always_allowed_line + line_per_byte * m_size) : longest_line;
}

// In files that are not seekable everything is read in its order.
std::size_t File::read_at(std::int64_t offset, char* target, std::size_t size)
{
    check_for_interruption();
    if (m_descriptor < 0)
        open();
    if (m_place.size >= 0) // others follow
        size = static_cast<std::size_t>(
            std::clamp<std::int64_t>(m_place.size - offset, 0, static_cast<std::int64_t>(size)));
    return m_place.extents.empty() ? read_in_file(m_place.offset + offset, target, size)
                                   : read_in_extents(offset, target, size);
}

std::size_t File::read_in_extents(std::int64_t offset, char* target, std::size_t size)
{
    const std::vector<Extent>& extents = m_place.extents;
    auto extent = std::ranges::upper_bound(extents, offset, {}, &Extent::begin);
    if (extent != extents.begin())
        --extent;
    std::size_t done = 0;
    for (; done < size && extent != extents.end(); ++extent) {
        const std::int64_t inside = offset + static_cast<std::int64_t>(done) - extent->begin;
        const std::size_t count = std::min(size - done, static_cast<std::size_t>(extent->size - inside));
        const std::size_t read = read_in_file(extent->offset + inside, target + done, count);
        done += read;
        if (read < count)
            break;
    }
    return done;
}

std::size_t File::read_in_file(std::int64_t offset, char* target, std::size_t size)
{
    std::size_t done = 0;
    while (done < size && !m_error) {
        const ssize_t count = m_is_seekable ? ::pread(m_descriptor, target + done, size - done, offset + done)
                                            : ::read(m_descriptor, target + done, size - done);
        if (count == 0)
            break;
        if (count > 0)
            done += count;
        else if (errno == EINTR)
            check_for_interruption_now();
        else
            m_error = errno;
    }
    return done;
}

WholeLines::WholeLines(const std::string& path, std::string closing, const ReadOptions& options)
    : m_file(path), m_closing(std::move(closing)), m_options(options), m_line_limit(m_file.line_limit())
{
}

std::size_t WholeLines::read(char* target, std::size_t size)
{
    while (m_next == m_whole && fill()) {
    }
    const std::size_t count = std::min(size, m_whole - m_next);
    m_buffer.copy(target, count, m_next);
    m_next += count;
    return count;
}

// Of the next one, of which something is in the buffer.
inline std::size_t WholeLines::size_of_line()
{
    const std::size_t rest = m_whole - m_next;
    if (m_noted.notes) {
        m_noted.begin = m_noted_begin + static_cast<std::int64_t>(m_next);
        m_noted.next = m_noted.notes->next(m_noted.begin);
        if (const TextNotes::Next& next = m_noted.next;
            next.is_line && next.begin == 0 && next.text_end <= rest)
            return next.text_end;
    }
    const char* const begin = m_buffer.data() + m_next;
    const void* const end = std::memchr(begin, '\n', rest);
    return end ? static_cast<std::size_t>(static_cast<const char*>(end) + 1 - begin) : rest;
}

bool WholeLines::next_line(std::string_view& line)
{
    while (m_next == m_whole && fill()) {
    }
    if (m_next == m_whole)
        return false;
    line = {m_buffer.data() + m_next, size_of_line()};
    m_next += line.size();
    return true;
}

void WholeLines::seek(std::int64_t offset)
{
    m_file.seek(offset);
    m_begin = offset;
    m_next = m_whole = m_filled = 0;
    m_at_end = m_is_too_long = false;
    if (m_noted.notes)
        begin_notes();
}

void WholeLines::begin_notes()
{
    m_noted.notes = m_file.begin_notes();
    m_noted_begin = -static_cast<std::int64_t>(m_filled);
}

std::string WholeLines::refusal() const
{
    return m_is_too_long ? "the line is longer than " + std::to_string(m_line_limit) + " bytes"
                         : m_file.refusal();
}

// False when there is nothing more to read.
bool WholeLines::fill()
{
    if (m_at_end || m_is_too_long)
        return false;
    const std::size_t rest = m_filled - m_next;
    std::memmove(m_buffer.data(), m_buffer.data() + m_next, rest);
    m_begin += static_cast<std::int64_t>(m_next);
    m_noted_begin += static_cast<std::int64_t>(m_next);
    if (m_noted.notes)
        m_noted.notes->forget_before(m_noted_begin);
    if (m_buffer.size() < rest + m_options.block_size)
        m_buffer.resize(rest + m_options.block_size);
    m_filled = rest + m_file.read(m_buffer.data() + rest, m_options.block_size);
    if (!m_options.keep_open)
        m_file.suspend();
    m_next = m_whole = 0;
    m_at_end = m_filled == rest;
    const std::string_view filled = std::string_view(m_buffer).substr(0, m_filled);
    if (m_at_end && filled.ends_with(m_closing))
        m_whole = m_filled;
    else if (const std::size_t line_end = filled.substr(rest).rfind('\n'); line_end != filled.npos)
        m_whole = rest + line_end + 1;
    m_is_too_long = m_filled - m_whole > m_line_limit;
    return true;
}

} // namespace hdtrace::detail
