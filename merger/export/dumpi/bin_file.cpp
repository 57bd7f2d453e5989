#include "merger/export/dumpi/bin_file.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace hdtrace::exporter::dumpi {

using namespace hdtrace::dumpi;

namespace {

constexpr std::size_t most_buffered = 1 << 18;
/// Smaller ones are those of MPI_Pcontrol.
constexpr std::uint64_t first_region = 4096;

} // namespace

BinFile::BinFile(Sink sink, std::int64_t second) : m_sink(std::move(sink)), m_second(second)
{
    const auto bias = static_cast<std::int32_t>(second);
    m_bytes.number(file_magic).number(std::int32_t{0}).number(bias); // no processor times
}

void BinFile::record(std::uint16_t label, std::int64_t thread, std::int64_t time, std::int64_t end,
                     std::string_view arguments)
{
    ++m_recorded.at(label);
    prefix(label, thread, time, end);
    m_bytes.append(arguments);
    flush();
}

void BinFile::region(std::uint16_t label, std::int64_t thread, std::int64_t time, const std::string& name)
{
    const auto [found, is_new] = m_regions.try_emplace(name, first_region + m_regions.size());
    prefix(label, thread, time, time);
    m_bytes.number(found->second);
    flush();
}

void BinFile::prefix(std::uint16_t label, std::int64_t thread, std::int64_t begin, std::int64_t end)
{
    constexpr std::uint8_t mask = mask_statuses | mask_wall | mask_thread;
    m_bytes.number(label).number(mask).number(static_cast<std::uint16_t>(thread));
    time(begin);
    time(end);
}

/// Seconds begin again at 0 after 18 hours, as with DUMPI itself.
void BinFile::time(std::int64_t time)
{
    constexpr std::int64_t second = 1'000'000'000;
    const std::int64_t seconds = std::max(time / second, m_second) - m_second;
    const std::int64_t nanoseconds = time / second < m_second ? 0 : time % second;
    m_bytes.number(static_cast<std::uint16_t>(seconds)).number(static_cast<std::uint32_t>(nanoseconds));
}

void BinFile::flush()
{
    if (m_bytes.size() < most_buffered)
        return;
    m_sink(m_bytes.view());
    m_written += m_bytes.size();
    m_bytes.clear();
}

void BinFile::finish(const Description& description)
{
    m_bytes.number(label_end);
    const std::uint64_t header_place = place();
    header(description);
    const std::uint64_t footer_place = place();
    footer(description.ignored);
    const std::uint64_t notes_place = description.notes.empty() ? 0 : place();
    if (notes_place != 0) {
        const auto& [key, value] = description.notes.front();
        m_bytes.number(std::uint32_t{1}).text<std::uint16_t>(key).text<std::uint16_t>(value);
    }
    const std::uint64_t counters_place = place();
    m_bytes.number(std::uint32_t{0});
    const std::uint64_t sizes_place = place();
    m_bytes.number(static_cast<std::uint32_t>(description.datatype_sizes.size()));
    for (const std::int32_t size : description.datatype_sizes)
        m_bytes.number(size);
    const std::uint64_t addresses_place = place();
    m_bytes.number(static_cast<std::uint32_t>(m_regions.size()));
    for (const auto& [name, address] : m_regions)
        m_bytes.number(address).text<std::uint16_t>("ANNOTATION: " + name);
    m_bytes.number(file_magic).number(sizes_place).number(addresses_place).number(counters_place);
    m_bytes.number(header_place).number(sizeof file_magic).number(footer_place).number(notes_place);
    m_sink(m_bytes.view());
    m_bytes.clear();
}

void BinFile::header(const Description& description)
{
    for (const std::uint8_t part : version)
        m_bytes.number(part);
    m_bytes.number(static_cast<std::uint64_t>(description.start));
    m_bytes.text<std::uint16_t>(description.host).text<std::uint16_t>(description.user);
    m_bytes.number(std::uint32_t{0}).number(std::uint32_t{0}); // no mesh
}

/// What was called: recorded or not.
void BinFile::footer(const CallCounts& ignored)
{
    const auto told = [&](std::uint64_t count) {
        m_bytes.number(static_cast<std::uint32_t>(
            std::min<std::uint64_t>(count, std::numeric_limits<std::uint32_t>::max())));
    };
    m_bytes.number(footer_magic);
    std::uint64_t all = 0, all_ignored = 0;
    for (std::size_t label = 0; label < label_count; ++label) {
        told(m_recorded[label] + ignored[label]);
        all += m_recorded[label] + ignored[label];
    }
    told(all);
    for (const std::uint64_t count : ignored) {
        told(count);
        all_ignored += count;
    }
    told(all_ignored);
}

} // namespace hdtrace::exporter::dumpi
