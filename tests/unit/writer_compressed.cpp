// Compressed traces: what is in the file after each step, read with the libraries' own functions.
#include "compact_support.h"
#include "hdtrace/compact_form.h"
#include "hdtrace/writer/own_memory.h"

#include <functional>
#include <malloc.h>
#include <zlib.h>
#include <zstd.h>

namespace hdtrace::test {
namespace {

std::string decompressed_gzip(const std::string& path)
{
    gzFile_s* const file = gzopen(path.c_str(), "rb");
    std::string text;
    char buffer[10'000];
    int count;
    while ((count = gzread(file, buffer, sizeof buffer)) > 0)
        text.append(buffer, static_cast<size_t>(count));
    EXPECT_EQ(count, 0) << "the file is damaged or cut off";
    EXPECT_FALSE(gzdirect(file));
    gzclose(file);
    return text;
}

std::string decompressed_zstd(const std::string& path)
{
    const std::string compressed = content_of(path);
    std::string text;
    std::string buffer(10'000, '\0');
    ZSTD_DCtx* const context = ZSTD_createDCtx();
    ZSTD_inBuffer in = {compressed.data(), compressed.size(), 0};
    size_t expected = 0;
    while (in.pos < in.size || expected != 0) {
        ZSTD_outBuffer out = {buffer.data(), buffer.size(), 0};
        const size_t before = in.pos;
        expected = ZSTD_decompressStream(context, &out, &in);
        text.append(buffer.data(), out.pos);
        if (ZSTD_isError(expected) || (in.pos == before && out.pos == 0)) {
            ADD_FAILURE() << "the file is damaged or cut off";
            break;
        }
    }
    ZSTD_freeDCtx(context);
    return text;
}

struct Form {
    Compression compression;
    const char* suffix;
    std::string lead;
    std::string (*decompressed)(const std::string& path);
};

void PrintTo(const Form& form, std::ostream* out)
{
    *out << form.suffix;
}

template <size_t Size> std::string string_of(const unsigned char (&bytes)[Size])
{
    return {bytes, bytes + Size};
}

const Form forms[] = {
    {Compression::gzip, ".gz", string_of(gzip_block_lead), decompressed_gzip},
    {Compression::zstd, ".zst", string_of(zstd_block_lead), decompressed_zstd},
    {Compression::compact, ".compact", string_of(compact_block_lead), text_of_compact},
    {Compression::compact_zstd, ".compact", string_of(compact_block_lead), text_of_compact}};

class CompressedTrace : public testing::TestWithParam<Form> {
  protected:
    static TraceSettings settings(size_t buffer_size = 256 * 1024)
    {
        TraceSettings settings;
        settings.buffer_size = buffer_size;
        settings.form.compression = GetParam().compression;
        return settings;
    }
    static std::string path(const Trace& trace) { return trace.path() + GetParam().suffix; }
    static std::string text(const Trace& trace) { return GetParam().decompressed(path(trace)); }

    struct Block {
        BlockHead head;
        std::string text;
    };
    static std::vector<Block> blocks(const Trace& trace)
    {
        const std::string compressed = content_of(path(trace)), all = text(trace);
        const std::string start = GetParam().lead + std::string(block_mark, sizeof block_mark);
        std::vector<Block> found;
        for (size_t at = compressed.find(start); at != compressed.npos; at = compressed.find(start, at + 1)) {
            BlockHead head;
            EXPECT_TRUE(get_block_head(compressed.data() + at + GetParam().lead.size(), head));
            found.push_back({head, all.substr(head.text_offset, head.text_size)});
        }
        return found;
    }
};

INSTANTIATE_TEST_SUITE_P(, CompressedTrace, testing::ValuesIn(forms), [](const auto& info) {
    return std::string(info.param.suffix + 1) +
           (info.param.compression == Compression::compact_zstd ? "_zstd" : "");
});

// What a trace goes through, with the moments of saving as 'T'. If @p is_saved, whatever a buffer holds is in
// the file.
std::vector<std::string> history(Trace& trace, const std::function<std::string()>& text, bool is_saved)
{
    std::vector<std::string> steps;
    const auto remember = [&] {
        if (is_saved)
            trace.writer.save();
        steps.push_back(
            std::regex_replace(text(), std::regex("end='[0-9.]+' unfinished='1'"), "end='T' unfinished='1'"));
    };
    remember();
    trace.state("A", 1'000, 2'000);
    trace.begin("B", base_second * second);
    trace.state("C", 3'000, 4'000);
    trace.writer.save();
    remember();
    trace.end("B", 0, 5'000);
    trace.writer.save();
    remember();
    for (int i = 0; i < 10'000; ++i)
        trace.state("Random", i * i * 7'919ll, i * i * 7'927ll);
    remember();
    trace.event("tom & jerry", second);
    trace.long_state(500'000);
    remember();
    trace.begin("D", base_second * second);
    trace.writer.close();
    remember();
    return steps;
}

TEST_P(CompressedTrace, HoldsTheSameAtEachMoment)
{
    // With compression half of the buffer is for the text, and as records there is room for more calls.
    for (const size_t buffer_size : {64, 256, 1'000}) {
        TraceSettings plain_settings;
        plain_settings.buffer_size = buffer_size * 512;
        Trace plain(plain_settings), compressed(settings(buffer_size * 1024));
        const bool is_saved = compressed.writer.is_compact();
        const auto expected = history(
            plain, [&] { return plain.content(); }, is_saved);
        const auto found = history(
            compressed, [&] { return text(compressed); }, is_saved);
        ASSERT_EQ(found.size(), expected.size());
        for (size_t i = 0; i < found.size(); ++i)
            EXPECT_TRUE(found[i] == expected[i]) << "step " << i;
        EXPECT_EQ(states_in_file(compressed.writer), states_in_file(plain.writer));
    }
}

TEST_P(CompressedTrace, EachCallCanBeFlushed)
{
    TraceSettings at_once = settings();
    at_once.force_flush = true;
    Trace trace(at_once);
    trace.state("A");
    EXPECT_EQ(text(trace), head + state_line("A") + "\n" + footer);
    trace.state("B");
    EXPECT_EQ(text(trace), head + state_line("A") + "\n" + state_line("B") + "\n" + footer);
    EXPECT_EQ(blocks(trace).size(), 2u);
}

TEST_P(CompressedTrace, BlocksSayWhatTheyHold)
{
    TraceSettings coarse = settings(64 * 1024);
    coarse.form.time_digits = 7;
    Trace trace(coarse);
    for (int i = 0; i < 20'000; ++i) {
        trace.begin();
        trace.state("Inner", i * second, i * second + 100);
        write_element(trace.writer, [=](auto& element) {
            element.text("<Outer").times(base_second * second,
                                         base_second * second + i * second + 999'999'999);
            element.child("<For rid='").number(i).text("'").end_child();
            element.end("Outer");
        });
    }
    trace.writer.flush();
    trace.writer.close();
    const auto all = blocks(trace);
    ASSERT_GT(all.size(), 5u);
    const std::string whole = text(trace);
    size_t offset = head.size(), line = 3;
    for (const Block& block : all) {
        EXPECT_EQ(block.head.text_offset, offset);
        EXPECT_EQ(block.head.first_line, line);
        EXPECT_EQ(block.text.front(), '<');
        EXPECT_EQ(block.text.back(), '\n');
        EXPECT_EQ(block.head.first_end, (line - 3) * second + 999'999'900);
        line += occurrences(block.text, "\n");
        offset += block.head.text_size;
        EXPECT_EQ(block.head.last_end, (line - 4) * second + 999'999'900);
    }
    EXPECT_EQ(whole.substr(offset), footer);
}

TEST_P(CompressedTrace, LoopsBecomeSmall)
{
    Trace trace(settings());
    constexpr int count = 20'000;
    unsigned random = 1;
    int64_t now = 0;
    for (int i = 0; i < count; ++i) {
        random = random * 1'103'515'245 + 12'345;
        const int64_t begin = now += 100 + random % 64;
        now += 200 + random / 64 % 64;
        trace.begin();
        write_element(trace.writer, [=](auto& element) {
            element.text("<Send size='8' count='1' tid='0' toRank='1' toTag='").number(i % 2);
            element.text("' cid='0' rid='").number(i).text("'");
            element.times(base_second * second + begin, base_second * second + now).end("Send");
        });
    }
    trace.writer.close();
    const double bytes_per_call = static_cast<double>(std::filesystem::file_size(path(trace))) / count;
    EXPECT_LT(bytes_per_call, GetParam().compression == Compression::zstd ? 7 : 16);
}

TEST_P(CompressedTrace, TakesThePlaceOfOtherForms)
{
    const TemporaryDirectory directory;
    for (const char* suffix : {"", ".gz", ".zst", ".compact"})
        std::ofstream(directory.file("t") + suffix) << "older";
    TraceWriter writer;
    ASSERT_EQ(
        writer.open(directory.file("t").c_str(), "rank='0' thread='0'", base_second, settings(), nullptr), 0);
    EXPECT_EQ(writer.close(), 0);
    EXPECT_EQ(GetParam().decompressed(directory.file("t") + GetParam().suffix), head + footer);
    const std::filesystem::directory_iterator all(directory.path());
    EXPECT_EQ(std::distance(begin(all), end(all)), 1);
}

size_t memory_in_use()
{
    const struct mallinfo2 memory = mallinfo2();
    return memory.uordblks + memory.hblkhd + own_memory_in_use();
}

// As the help for HDTRACE_BUFFER_SIZE says; the wrapper has some more for each thread.
TEST(Memory, OfATraceIsItsBufferAndLittleMore)
{
    constexpr size_t wrapper = 40 * 1024, states = sizeof(TraceWriter);
    for (const auto& [compression, more] :
         {std::pair(Compression::none, 116), std::pair(Compression::gzip, 426),
          std::pair(Compression::zstd, 746), std::pair(Compression::compact, 116),
          std::pair(Compression::compact_zstd, 746)}) {
        TraceSettings settings;
        settings.form.compression = compression;
        const size_t before = memory_in_use();
        Trace trace(settings);
        for (int i = 0; i < 10'000; ++i)
            trace.state("A");
        EXPECT_LE(memory_in_use() - before, settings.buffer_size + more * 1024 - wrapper - states);
    }
    EXPECT_LE(TraceSettings().buffer_size + 746 * 1024, 1u << 20);
}

} // namespace
} // namespace hdtrace::test
