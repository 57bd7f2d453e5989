// A compressed trace whose blocks have heads that may lie, as text: "gzip" or "zstd" in the first line; each
// block begins with a line "@" and the numbers of its head, and goes on with its text. All of the text is
// read, whatever the heads say; and what begins at some time is found, or something else, but soon.
#include "hdtrace/block_head.h"
#include "hdtrace/format/compressed.h"
#include "hdtrace/format/file.h"
#include "hdtrace/format/traces.h"
#include "hdtrace/format/validate.h"
#include "tests/fuzz/input_folder.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include <zlib.h>
#include <zstd.h>

using namespace hdtrace;

namespace {

std::string_view take_line(std::string_view& text)
{
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    return line;
}

BlockHead head_from(std::string_view line)
{
    std::array<std::uint64_t, block_values> values{};
    for (std::uint64_t& value : values) {
        line.remove_prefix(std::min(line.find_first_of("0123456789"), line.size()));
        const char* const end = std::from_chars(line.data(), line.data() + line.size(), value).ptr;
        line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    }
    return {values[0], values[1], values[2], values[3], values[4], values[5]};
}

template <std::size_t Size> std::string head_bytes(const unsigned char (&lead)[Size], const BlockHead& head)
{
    std::string bytes(lead, lead + Size);
    bytes.resize(Size + block_head_size);
    put_block_head(bytes.data() + Size, head);
    return bytes;
}

std::string with_zstd(const BlockHead& head, std::string_view text)
{
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
    return head_bytes(zstd_block_lead, head) + packed;
}

std::string with_gzip(const BlockHead& head, std::string_view text)
{
    z_stream stream = {};
    constexpr int without_head = -15;
    if (deflateInit2(&stream, 1, Z_DEFLATED, without_head, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        std::abort();
    std::string packed(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
    for (const std::uint64_t value : {std::uint64_t{sum}, std::uint64_t{text.size()}})
        for (int i = 0; i < 4; ++i)
            packed += static_cast<char>(value >> (8 * i));
    return head_bytes(gzip_block_lead, head) + packed;
}

struct Trace {
    std::string name, file, text;
};

Trace trace_from(std::string_view input)
{
    Trace trace;
    const bool is_gzip = take_line(input) == "gzip";
    trace.name = is_gzip ? "app_host_0_0.trc.gz" : "app_host_0_0.trc.zst";
    while (!input.empty()) {
        const BlockHead head = head_from(take_line(input));
        const std::size_t end = std::min(input.find("\n@"), input.size());
        const std::string_view text = input.substr(0, std::min(end + 1, input.size()));
        trace.file += is_gzip ? with_gzip(head, text) : with_zstd(head, text);
        trace.text += text;
        input.remove_prefix(text.size());
    }
    return trace;
}

void check_text(const std::string& path, const std::string& expected)
{
    detail::File file(path);
    std::string text(expected.size() + 1, '\0');
    text.resize(file.read(text.data(), text.size()));
    if (text != expected || !file.refusal().empty())
        std::abort();
    file.size();
    for (const std::int64_t place :
         {std::int64_t{0}, std::int64_t{100}, std::numeric_limits<std::int64_t>::max()}) {
        file.seek(place);
        file.read(text.data(), text.size());
    }
}

void read_from(const std::string& path, std::int64_t time)
{
    Selection selection;
    selection.interval.begin = time;
    try {
        TraceStream states({path, 0, 0, {}}, selection);
        for (State state; states.next(state);) {
        }
    } catch (const ReadError&) {
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const fuzz::InputFolder folder;
    const Trace trace = trace_from(fuzz::as_text(data, size));
    if (trace.file.empty())
        return 0;
    const std::string path = folder.write(trace.name, trace.file);
    check_text(path, trace.text);
    for (const std::int64_t time : {std::numeric_limits<std::int64_t>::min(), std::int64_t{0},
                                    std::int64_t{5'000'000'000}, std::numeric_limits<std::int64_t>::max()})
        read_from(path, time);
    validate(path);
    return 0;
}
