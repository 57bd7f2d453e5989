// A compact trace: any bytes as the records of a block, behind a whole beginning. Reading it in small pieces
// gives the same text as at once, and never more than there may be. Its states are those of this text.
#include "hdtrace/compact_form.h"
#include "hdtrace/format/compressed.h"
#include "hdtrace/format/traces.h"
#include "hdtrace/format/validate.h"
#include "hdtrace/writer/block_position.h"
#include "hdtrace/writer/compressor.h"
#include "tests/fuzz/input_folder.h"
#include "tests/unit/reader_oracle.h"

#include <algorithm>
#include <cstdlib>
#include <string>

using namespace hdtrace;

namespace {

constexpr std::string_view root =
    "<?xml version='1.0' encoding='UTF-8'?>\n<Program timeAdjustment='1' version='1'>\n";

std::string file_with(std::string_view records)
{
    Compressor compressor;
    if (compressor.open(Compression::compact) != 0)
        std::abort();
    std::string file, unit(Compressor::bound(std::max(records.size(), root.size())), '\0');
    const auto add = [&](Text made) { file.append(made.data, made.size); };
    add(compressor.compress_text(unit.data(), {root.data(), root.size()}));
    BlockPosition position;
    position.skip({root.data(), root.size()});
    const BlockHead head = position.add_records({0, 100, 0, 1, 0, 1'000'000'000});
    add(compressor.compress_block(unit.data(), {records.data(), records.size()}, head));
    return file;
}

constexpr std::size_t enough = 1 << 20;

std::string text_of(const std::string& file, std::size_t step)
{
    const auto read_at = [&](std::int64_t offset, char* target, std::size_t size) {
        const auto place = static_cast<std::size_t>(offset);
        return place < file.size() ? file.copy(target, size, place) : 0;
    };
    detail::CompressedText compact(read_at, static_cast<std::int64_t>(file.size()));
    std::string text, piece(step, '\0');
    while (text.size() < enough) {
        const std::size_t count = compact.read(piece.data(), std::min(step, enough - text.size()));
        if (count == 0)
            break;
        text.append(piece, 0, count);
    }
    return text;
}

// Where a trace is broken libxml2 may lose some of the states before, depending on how it was read.
void compare_with_text(const std::string& compact_path, const std::string& text_path)
{
    const test::Result compact = test::read(compact_path);
    const test::Result text = test::read(text_path);
    const auto alike = [](const State& one, const State& other) { return test::are_alike(one, other); };
    const auto [one, other] = std::ranges::mismatch(compact.states, text.states, alike);
    if (one != compact.states.end() && other != text.states.end())
        std::abort();
    const bool is_same = compact.complete == text.complete && compact.missing == text.missing &&
                         compact.states.size() == text.states.size();
    if (compact.error.empty() && !is_same)
        std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const fuzz::InputFolder folder;
    const std::string file = file_with(fuzz::as_text(data, size));
    const std::string text = text_of(file, 1 << 16);
    if (text != text_of(file, 100))
        std::abort();
    const std::string path = folder.write("app_host_0_0.trc.compact", file);
    try {
        TraceStream states({path, 0, 0, {}}, Selection());
        for (State state; states.next(state);) {
        }
    } catch (const ReadError&) {
    }
    validate(path);
    if (text.size() < enough)
        compare_with_text(path, folder.write("text_host_0_0.trc", text));
    return 0;
}
