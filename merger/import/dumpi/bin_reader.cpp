#include "merger/import/dumpi/bin_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>

#include "merger/import/source.h"

namespace hdtrace::importer::dumpi {

using namespace hdtrace::dumpi;

namespace {

constexpr std::size_t block = 1 << 18;

/// Resources of MPI have numbers without a sign; what the program passed has one.
bool is_signed(Code code)
{
    return code == Code::integer || code == Code::large || code == Code::rank || code == Code::tag;
}

} // namespace

const Value* Record::find(std::string_view name) const
{
    const auto found =
        std::ranges::find_if(values, [&](const Value& value) { return value.argument->name == name; });
    return found == values.end() ? nullptr : &*found;
}

std::int64_t Record::number(std::string_view name, std::int64_t otherwise) const
{
    const Value* value = find(name);
    return value == nullptr ? otherwise : value->number;
}

BinReader::BinReader(const std::string& path) : m_path(path), m_file(path, std::ios::binary)
{
    if (!m_file.is_open())
        throw ImportError(path + ": " + std::strerror(errno));
    m_file.seekg(0, std::ios::end);
    const auto size = m_file.tellg();
    if (size < 0)
        throw ImportError(path + ": " + std::strerror(errno));
    m_size = static_cast<std::uint64_t>(size);
    read_index();
    read_header();
    read_footer();
    read_side_sections();
    seek(m_body);
    number(4, true); // of processor times, which nobody wants
    m_bias = number(4, true);
}

std::string BinReader::version() const
{
    return std::to_string(m_version[0]) + "." + std::to_string(m_version[1]) + "." +
           std::to_string(m_version[2]);
}

// --- numbers and texts ---

void BinReader::fail_at(std::uint64_t offset, const std::string& what) const
{
    throw ImportError(m_path, offset, what);
}

void BinReader::fail(const std::string& what) const
{
    fail_at(m_record, what);
}

void BinReader::seek(std::uint64_t offset)
{
    m_place = offset;
    m_buffer.clear();
    m_used = 0;
    m_file.clear();
    m_file.seekg(static_cast<std::streamoff>(offset));
}

void BinReader::need(std::size_t bytes)
{
    if (m_buffer.size() - m_used >= bytes)
        return;
    m_place += m_used;
    m_buffer.erase(0, m_used);
    m_used = 0;
    const std::uint64_t left = m_size - std::min(m_size, m_place);
    if (left < bytes)
        fail_at(m_place, "the file ends where " + std::to_string(bytes) + " bytes should be");
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(std::max(bytes, block), left));
    const std::size_t had = m_buffer.size();
    m_buffer.resize(wanted);
    m_file.read(m_buffer.data() + had, static_cast<std::streamsize>(wanted - had));
    if (static_cast<std::size_t>(m_file.gcount()) != wanted - had)
        fail_at(m_place, "the file cannot be read");
}

std::uint64_t BinReader::unsigned_number(std::size_t width)
{
    need(width);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < width; ++i)
        value = value << 8 | static_cast<unsigned char>(m_buffer[m_used++]);
    return value;
}

std::int64_t BinReader::number(std::size_t width, bool is_signed)
{
    const std::uint64_t value = unsigned_number(width);
    const std::size_t unused = 64 - 8 * width;
    return is_signed ? static_cast<std::int64_t>(value << unused) >> unused
                     : static_cast<std::int64_t>(value);
}

std::string BinReader::text(std::size_t length_width)
{
    const std::uint64_t place = m_place + m_used;
    const std::uint64_t length = unsigned_number(length_width);
    if (length > m_size - std::min(m_size, m_place + m_used))
        fail_at(place, "a text of " + std::to_string(length) + " bytes ends behind the file");
    need(static_cast<std::size_t>(length));
    std::string text = m_buffer.substr(m_used, static_cast<std::size_t>(length));
    m_used += static_cast<std::size_t>(length);
    return text;
}

/// How many there are of something, of which the file has room for so many.
std::uint32_t BinReader::count(std::size_t bytes_of_one)
{
    const std::uint64_t place = m_place + m_used;
    const std::uint64_t count = unsigned_number(4);
    if (count * bytes_of_one > m_size - std::min(m_size, m_place + m_used))
        fail_at(place, "a list of " + std::to_string(count) + " elements ends behind the file");
    return static_cast<std::uint32_t>(count);
}

// --- what stands behind the records ---

/// Older files have fewer places.
void BinReader::read_index()
{
    constexpr std::size_t most = 8, least = 5;
    for (std::size_t words = most; words >= least; --words) {
        if (m_size < words * 8 + 8)
            continue;
        seek(m_size - words * 8);
        if (unsigned_number(8) != file_magic)
            continue;
        if (words > 7)
            m_sizes_place = unsigned_number(8);
        if (words > 6)
            m_names_place = unsigned_number(8);
        if (words > 5)
            m_labels_place = unsigned_number(8);
        m_header = unsigned_number(8);
        m_body = unsigned_number(8);
        m_footer = unsigned_number(8);
        m_notes_place = unsigned_number(8);
        if (m_header == 0 || m_body == 0 || m_footer < m_body)
            fail_at(m_size - words * 8, "the index names places that cannot be");
        for (const std::uint64_t place :
             {m_sizes_place, m_names_place, m_labels_place, m_header, m_body, m_footer, m_notes_place})
            if (place >= m_size)
                fail_at(m_size - words * 8,
                        "the index names a place behind the file: " + std::to_string(place));
        return;
    }
    fail_at(m_size, "this is no whole file of DUMPI: it does not end with an index");
}

void BinReader::read_header()
{
    seek(m_header);
    for (int& part : m_version)
        part = static_cast<int>(unsigned_number(1));
    m_start = number(8, true);
    m_host = text(2);
    constexpr std::size_t most = 255; // of a name of a machine, and of the file that will have it
    if (m_host.size() > most)
        fail_at(m_header, "the name of the host has " + std::to_string(m_host.size()) + " bytes");
    m_user = text(2);
}

void BinReader::read_footer()
{
    seek(m_footer);
    if (unsigned_number(8) != footer_magic)
        fail_at(m_footer, "there is no footer where the index says");
    for (int i = 0; i <= label_count; ++i)
        unsigned_number(4);
    for (int i = 0; i < label_count; ++i)
        m_ignored.push_back(static_cast<std::uint32_t>(unsigned_number(4)));
}

void BinReader::read_side_sections()
{
    if (m_notes_place != 0) {
        seek(m_notes_place);
        for (std::uint32_t left = count(4); left > 0; --left) {
            std::string key = text(2);
            m_notes[std::move(key)] = text(2);
        }
    }
    if (m_sizes_place != 0) {
        seek(m_sizes_place);
        m_sizes.resize(count(4));
        for (std::int32_t& size : m_sizes)
            size = static_cast<std::int32_t>(number(4, true));
    }
    if (m_names_place != 0) {
        seek(m_names_place);
        for (std::uint32_t left = count(10); left > 0; --left) {
            const std::uint64_t address = unsigned_number(8);
            m_names[address] = text(2);
        }
    }
}

// --- records ---

bool BinReader::is_older_than(int major, int minor, int patch) const
{
    return std::tuple(m_version[0], m_version[1], m_version[2]) < std::tuple(major, minor, patch);
}

bool BinReader::next(Record& record)
{
    m_record = m_place + m_used;
    if (m_at_end || m_record >= m_footer)
        return false;
    record.offset = m_record;
    record.label = static_cast<std::uint16_t>(unsigned_number(2));
    record.values.clear();
    record.function = nullptr;
    if (record.label == label_end) {
        m_at_end = true;
        return false;
    }
    const bool is_moment = record.label == label_enter || record.label == label_exit;
    if (!is_moment && (record.function = find_function(record.label)) == nullptr)
        fail("no function has the label " + std::to_string(record.label));
    std::uint8_t mask = 0;
    read_prefix(record, mask);
    if (is_moment)
        record.address = unsigned_number(8);
    else
        read_arguments(record, (mask & mask_statuses) != 0);
    if (m_place + m_used > m_footer)
        fail("the record ends in what stands behind the records");
    return true;
}

void BinReader::read_prefix(Record& record, std::uint8_t& mask)
{
    mask = static_cast<std::uint8_t>(unsigned_number(1));
    constexpr std::uint8_t known = mask_statuses | mask_cpu | mask_wall | mask_thread | mask_perf;
    if ((mask & ~known) != 0)
        fail("what tells about the record has bits that mean nothing: " + std::to_string(mask));
    record.thread = (mask & mask_thread) != 0 ? static_cast<std::int64_t>(unsigned_number(2)) : 0;
    if ((mask & mask_cpu) != 0)
        for (int i = 0; i < 2; ++i) {
            unsigned_number(2);
            unsigned_number(4);
        }
    record.has_time = (mask & mask_wall) != 0;
    record.time = record.has_time ? read_time() : 0;
    record.end = record.has_time ? read_time() : 0;
    if ((mask & mask_perf) != 0)
        for (std::uint64_t left = unsigned_number(1); left > 0; --left) {
            unsigned_number(8);
            unsigned_number(8);
        }
}

/// Seconds have 16 bits: where they go back by more than half of that they have begun again. One record may
/// also begin before and end after that.
std::int64_t BinReader::read_time()
{
    constexpr std::int64_t wrap = 65536, second = 1'000'000'000;
    const auto seconds = static_cast<std::int64_t>(unsigned_number(2));
    const auto nanoseconds = static_cast<std::int64_t>(unsigned_number(4));
    if (nanoseconds >= second)
        fail("a time has " + std::to_string(nanoseconds) + " nanoseconds");
    if (seconds < m_last_second - wrap / 2)
        m_wrapped += wrap;
    else if (seconds > m_last_second + wrap / 2 && m_wrapped > 0)
        m_wrapped -= wrap; // a call of another thread that began before
    m_last_second = seconds;
    return (m_bias + m_wrapped + seconds) * second + nanoseconds;
}

void BinReader::read_arguments(Record& record, bool has_statuses)
{
    std::int64_t me = -1;
    std::optional<std::int64_t> root;
    for (const Argument& argument : record.function->arguments) {
        if (argument.at_root && root != me)
            continue;
        Value& value = record.values.emplace_back();
        value.argument = &argument;
        if (is_plain_number(record, value))
            value.numbers.assign(1, number(4, true));
        else
            read_value(value, has_statuses);
        if (argument.name == "argv" && is_older_than(0, 6, 2))
            unsigned_number(4); // how many there are, once more
        if (argument.name == "commrank" || argument.name == "oldcommrank")
            me = value.number;
        if (argument.name == "root")
            root = value.number;
    }
}

/// Arrays of which old files have one element.
bool BinReader::is_plain_number(const Record& record, const Value& value) const
{
    return (record.function->name == "Cart_get" && value.argument->name == "coords" &&
            is_older_than(0, 6, 8)) ||
           (record.function->name == "Type_struct" && value.argument->name == "indices" &&
            is_older_than(0, 6, 9));
}

void BinReader::read_value(Value& value, bool has_statuses)
{
    const Argument& argument = *value.argument;
    if (argument.code == Code::status)
        return read_statuses(value, has_statuses);
    const bool is_text = argument.code == Code::text;
    const auto width = static_cast<std::size_t>(is_text ? 4 : width_of(argument.code));
    if (argument.dimensions == 0) {
        if (is_text)
            value.text = text(4);
        else
            value.number = read_number(argument.code);
        return;
    }
    for (std::uint32_t left = count(argument.dimensions == 2 ? 4 : width); left > 0; --left) {
        if (argument.dimensions == 1 && is_text) {
            value.texts.push_back(text(4));
        } else if (argument.dimensions == 1) {
            value.numbers.push_back(read_number(argument.code));
        } else if (is_text) {
            auto& row = value.text_rows.emplace_back();
            for (std::uint32_t elements = count(4); elements > 0; --elements)
                row.push_back(text(4));
        } else {
            auto& row = value.rows.emplace_back();
            for (std::uint32_t elements = count(width); elements > 0; --elements)
                row.push_back(read_number(argument.code));
        }
    }
}

void BinReader::read_statuses(Value& value, bool has_statuses)
{
    if (!has_statuses)
        return;
    const bool has_tag = !is_older_than(0, 6, 3);
    for (std::uint32_t left = count(has_tag ? 14 : 10); left > 0; --left) {
        Status status;
        status.bytes = number(4, true);
        status.source = number(4, true);
        status.is_cancelled = number(1, true) != 0;
        status.error = static_cast<std::int32_t>(number(1, true));
        status.tag = has_tag ? number(4, true) : any_tag;
        value.statuses.push_back(status);
    }
}

std::int64_t BinReader::read_number(Code code)
{
    return number(static_cast<std::size_t>(width_of(code)), is_signed(code));
}

} // namespace hdtrace::importer::dumpi
