#include "hdtrace/format/repair.h"

#include "hdtrace/format/compressed.h"
#include "hdtrace/format/errors.h"
#include "hdtrace/format/file.h"
#include "hdtrace/format/node_file.h"
#include "hdtrace/format/trace_compressor.h"
#include "hdtrace/format/writing_process.h"
#include "hdtrace/tools/file_error.h"
#include "hdtrace/tools/output_file.h"
#include "hdtrace/tools/permissions.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace hdtrace {

namespace {

/// For traces that were cut off before they began.
std::string empty_root(const TrcReader& reader)
{
    std::string root = "<?xml version='1.0' encoding='UTF-8'?>\n<Program timeAdjustment='0' version='1'";
    if (reader.rank() && reader.thread())
        root += " rank='" + std::to_string(*reader.rank()) + "' thread='" + std::to_string(*reader.thread()) +
                "'";
    return root + ">\n";
}

std::optional<Compression> compression_of(const std::string& path)
{
    std::array<char, detail::magic_size> magic = {};
    std::ifstream(path, std::ios::binary).read(magic.data(), magic.size());
    const std::string_view first_bytes(magic.data(), magic.size());
    return detail::form_of(first_bytes);
}

/// The size of the first @p count lines in @p text, which are subtracted from it; all of it if there are
/// fewer.
std::size_t take_lines(std::string_view text, std::int64_t& count)
{
    std::size_t size = 0;
    while (count > 0) {
        const std::size_t end = text.find('\n', size);
        if (end == std::string_view::npos)
            return text.size();
        size = end + 1;
        --count;
    }
    return size;
}

/// What a closed trace is written to, in the form of the one that was cut off.
class ClosedTrace {
  public:
    ClosedTrace(const std::string& path, std::optional<Compression> compression) : m_file(path, only_owner)
    {
        if (compression)
            m_compressor.emplace(*compression, [this](std::string_view bytes) { m_file.write(bytes); });
    }

    void write(std::string_view text)
    {
        if (m_compressor)
            m_compressor->write(text);
        else
            m_file.write(text);
    }

    /// Behind the last line.
    void close()
    {
        write(end_tag);
        if (m_compressor)
            m_compressor->close();
    }

    const std::string& temporary_path() const { return m_file.temporary_path(); }
    void commit(const std::string& original)
    {
        tools::take_permissions(m_file.descriptor(), original);
        m_file.commit(true);
    }

  private:
    static constexpr mode_t only_owner = 0600;

    tools::OutputFile m_file;
    std::optional<TraceCompressor> m_compressor;
};

void copy_lines(const std::string& path, std::int64_t count, ClosedTrace& target)
{
    detail::File source(path);
    std::array<char, 1 << 16> buffer;
    while (count > 0) {
        const std::string_view text(buffer.data(), source.read(buffer.data(), buffer.size()));
        if (text.empty())
            throw OpenError(path, source.error());
        target.write(text.substr(0, take_lines(text, count)));
    }
}

/// Whether @p path is a whole trace with so many states.
bool holds(const std::string& path, std::uint64_t states)
{
    try {
        TrcReader reader(path);
        State state;
        for (; reader.next(state); --states) {
            if (states == 0)
                return false;
        }
        return states == 0 && reader.complete();
    } catch (const ReadError&) {
        return false;
    }
}

bool is_same_file(const std::string& path, const std::string& other)
{
    std::error_code ignored;
    return std::filesystem::equivalent(path, other, ignored);
}

constexpr const char* still_writes = "its process still writes";

} // namespace

bool is_being_traced(const std::string& path)
{
    return detail::is_being_written(detail::info_of_trace(path));
}

void close_trace(const std::string& path, const TrcReader& reader, std::uint64_t states)
{
    ClosedTrace closed(path, compression_of(path));
    if (reader.attributes().empty() && reader.whole_lines() == 0)
        closed.write(empty_root(reader));
    else
        copy_lines(path, reader.whole_lines(), closed);
    closed.close();
    if (!holds(closed.temporary_path(), states))
        throw std::runtime_error("its states do not end at line ends");
    if (is_being_traced(path))
        throw std::runtime_error(still_writes);
    const std::string original = path + original_suffix;
    const int error = link(path.c_str(), original.c_str()) == 0 ? 0 : errno;
    if (error != 0 && !is_same_file(path, original)) // an earlier repair may have been interrupted here
        throw tools::FileError(original, error);
    closed.commit(path);
}

std::string repair_trace(const std::string& path)
{
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
        throw std::runtime_error("this is not a regular file"); // a pipe may never end

    const bool is_running = is_being_traced(path); // asked before: it may end while it is read
    TrcReader reader(path);
    State state;
    std::uint64_t states = 0;
    while (reader.next(state))
        ++states;
    if (reader.has_segments())
        return {}; // read as it is
    if (!reader.complete() && detail::is_in_node_file(detail::existing_name(path)))
        throw std::runtime_error("it is in a node file that was cut off: what is left is read as it is");
    if (!reader.complete() && is_running)
        throw std::runtime_error(still_writes);
    if (!reader.complete())
        close_trace(path, reader, states);
    return reader.missing();
}

} // namespace hdtrace
