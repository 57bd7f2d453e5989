#include "merger/trace_repair.h"

#include "hdtrace/reader/file.h"
#include "merger/output_file.h"

#include <array>
#include <cerrno>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace hdtrace::merger {

namespace {

constexpr std::string_view end_tag = "</Program>\n";

/// For traces that were cut off before they began.
std::string empty_root(const TrcReader& reader)
{
    std::string root = "<?xml version='1.0' encoding='UTF-8'?>\n<Program timeAdjustment='0' version='1'";
    if (reader.rank() && reader.thread())
        root += " rank='" + std::to_string(*reader.rank()) + "' thread='" + std::to_string(*reader.thread()) +
                "'";
    return root + ">\n";
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

void copy_lines(const std::string& path, std::int64_t count, OutputFile& target)
{
    detail::File source(path);
    std::array<char, 1 << 16> buffer;
    while (count > 0) {
        const std::string_view text(buffer.data(), source.read(buffer.data(), buffer.size()));
        if (text.empty())
            throw std::system_error(source.error(), std::generic_category(), path);
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

} // namespace

void close_trace(const std::string& path, const TrcReader& reader, std::uint64_t states)
{
    OutputFile closed(path);
    if (reader.attributes().empty() && reader.whole_lines() == 0)
        closed.write(empty_root(reader));
    else
        copy_lines(path, reader.whole_lines(), closed);
    closed.write(end_tag);
    if (!holds(closed.temporary_path(), states))
        throw std::runtime_error("its states do not end at line ends");
    const std::string original = path + original_suffix;
    if (link(path.c_str(), original.c_str()) != 0)
        throw std::system_error(errno, std::generic_category(), original);
    closed.commit();
}

} // namespace hdtrace::merger
