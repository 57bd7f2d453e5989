// Compressed traces, from our writer to our reader.
#include "hdtrace/format/compressed.h"
#include "hdtrace/format/trace_compressor.h"
#include "hdtrace/writer/compressor.h"
#include "writer_support.h"

#include <map>
#include <random>
#include <utility>
#include <zlib.h>
#include <zstd.h>

namespace hdtrace::test {
namespace {

using detail::CompressedText;

/// A file in memory that counts what is read of it.
class Bytes {
  public:
    explicit Bytes(std::string bytes) : m_bytes(std::move(bytes)) {}

    CompressedText text()
    {
        return {[this](std::int64_t offset, char* target, std::size_t size) {
                    const std::size_t count = static_cast<std::size_t>(offset) < m_bytes.size()
                                                  ? m_bytes.copy(target, size, offset)
                                                  : 0;
                    m_read += count;
                    return count;
                },
                static_cast<std::int64_t>(m_bytes.size())};
    }
    std::size_t take_read() { return std::exchange(m_read, 0); }

  private:
    std::string m_bytes;
    std::size_t m_read = 0;
};

std::string rest_of(CompressedText& text, std::size_t step = 10'000)
{
    std::string all, part(step, '\0');
    while (const std::size_t count = text.read(part.data(), part.size()))
        all.append(part, 0, count);
    return all;
}

struct Form {
    const char* name;
    Compression compression;
    const char* suffix;
    std::string (*foreign)(const std::string& text); ///< as others compress
    std::size_t text_in_block = 72 * 1024;           ///< at most
};

std::string with_zstd(const std::string& text)
{
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
    return packed;
}

std::string with_gzip(const std::string& text)
{
    const TemporaryDirectory directory;
    gzFile_s* const file = gzopen(directory.file("t").c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return content_of(directory.file("t"));
}

// One unit with text.
std::string as_compact(const std::string& text)
{
    Compressor compressor;
    EXPECT_EQ(compressor.open(Compression::compact), 0);
    std::string packed(Compressor::bound(text.size()), '\0');
    packed.resize(compressor.compress_text(packed.data(), {text.data(), text.size()}).size);
    return packed;
}

const Form forms[] = {{"gzip", Compression::gzip, ".gz", with_gzip},
                      {"zstd", Compression::zstd, ".zst", with_zstd},
                      {"compact", Compression::compact, ".compact", as_compact, 1024 * 1024},
                      {"compact_zstd", Compression::compact_zstd, ".compact", as_compact, 1024 * 1024}};

constexpr int calls = 200'000;
constexpr int64_t interval = 1'000'000;

void PrintTo(const Form& form, std::ostream* out)
{
    *out << form.name;
}

class Compressed : public testing::TestWithParam<Form> {
  protected:
    /// What a trace is as text and as a file; call number i ends i intervals after the beginning.
    struct Twins {
        std::string text;
        std::string file;
    };
    static const Twins& twins()
    {
        static std::map<Compression, Twins> known;
        Twins& made = known[GetParam().compression];
        if (made.file.empty())
            made = {written(Compression::none), written(GetParam().compression)};
        return made;
    }
    static std::string written(Compression compression)
    {
        TraceSettings settings;
        settings.form.compression = compression;
        settings.buffer_size = 128 * 1024;
        Trace trace(settings);
        for (int i = 0; i < calls; ++i) {
            trace.state("Call", i * interval - i % 1'000, i * interval);
            if (i == calls - 200) // a small last block
                trace.writer.flush();
        }
        trace.writer.close();
        return content_of(trace.path() + (compression == Compression::none ? "" : GetParam().suffix));
    }
    static std::size_t last_block()
    {
        const std::string mark(block_mark, sizeof block_mark);
        return twins().file.rfind(mark);
    }
};

INSTANTIATE_TEST_SUITE_P(, Compressed, testing::ValuesIn(forms),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(Compressed, IsRecognised)
{
    EXPECT_TRUE(detail::is_compressed(twins().file.substr(0, detail::magic_size)));
    EXPECT_FALSE(detail::is_compressed(twins().text.substr(0, detail::magic_size)));
    EXPECT_FALSE(detail::is_compressed(""));
}

TEST_P(Compressed, IsTheText)
{
    for (const std::size_t step : {1u, 1'000u, 10'000'000u}) {
        Bytes bytes(twins().file);
        CompressedText text = bytes.text();
        EXPECT_TRUE(rest_of(text, step) == twins().text);
        EXPECT_EQ(text.refusal(), "");
    }
}

TEST_P(Compressed, CanBeReadFromAnywhere)
{
    Bytes bytes(twins().file);
    CompressedText text = bytes.text();
    EXPECT_EQ(text.size(), static_cast<int64_t>(twins().text.size()));
    std::mt19937 random(1);
    std::string part(1'000, '\0');
    for (int i = 0; i < 300; ++i) {
        const std::size_t place = random() % (twins().text.size() - part.size());
        text.seek(static_cast<int64_t>(place));
        EXPECT_EQ(text.read(part.data(), part.size()), part.size());
        EXPECT_EQ(part, twins().text.substr(place, part.size()));
    }
    text.seek(text.size());
    EXPECT_EQ(rest_of(text), "");
    text.seek(0);
    EXPECT_TRUE(rest_of(text) == twins().text);
}

TEST_P(Compressed, TheIndexLeadsToATime)
{
    Bytes bytes(twins().file);
    CompressedText text = bytes.text();
    for (const int call : {0, 1, 100, 12'345, 130'000, calls - 1}) {
        bytes.take_read();
        const std::size_t offset = static_cast<std::size_t>(text.offset_of_time(call * interval));
        constexpr std::size_t any_search = 192 * 1024;
        EXPECT_LT(bytes.take_read(), std::max(twins().file.size() / 3, any_search));
        EXPECT_TRUE(offset == 0 || twins().text[offset - 1] == '\n');
        // At most a block of lines stands before the one that was looked for.
        text.seek(static_cast<int64_t>(offset));
        std::string block(GetParam().text_in_block, '\0');
        block.resize(text.read(block.data(), block.size()));
        char end[32];
        snprintf(end, sizeof end, "end='%d.%09d'", static_cast<int>(call * interval / second),
                 static_cast<int>(call * interval % second));
        EXPECT_NE(block.find(end), block.npos) << call;
    }
}

TEST_P(Compressed, ACutLosesNoBlockThatIsWhole)
{
    const std::size_t begin = last_block();
    BlockHead head;
    ASSERT_TRUE(get_block_head(twins().file.data() + begin, head));
    const std::size_t step = 1 + (twins().file.size() - begin) / 2'000;
    for (std::size_t size = begin; size < twins().file.size(); size += step) {
        Bytes bytes(twins().file.substr(0, size));
        CompressedText text = bytes.text();
        text.seek(static_cast<int64_t>(head.text_offset) - 100);
        const std::string rest = rest_of(text);
        ASSERT_GE(rest.size(), 100u) << size;
        ASSERT_EQ(rest, twins().text.substr(head.text_offset - 100, rest.size())) << size;
        ASSERT_EQ(text.refusal(), "") << size;
    }
}

TEST_P(Compressed, DamageIsToldAndWhatStandsBeforeIsRead)
{
    std::string file = twins().file;
    const std::size_t place = file.size() / 2;
    for (std::size_t i = 0; i < 8; ++i)
        file[place + i] = static_cast<char>(~file[place + i]);
    Bytes bytes(file);
    CompressedText text = bytes.text();
    const std::string read = rest_of(text);
    EXPECT_GT(read.size(), twins().text.size() / 4);
    EXPECT_LT(read.size(), twins().text.size() * 3 / 4);
    EXPECT_TRUE(text.refusal().starts_with("the compressed data before byte ")) << text.refusal();
}

TEST_P(Compressed, FilesOfOthersAreReadToo)
{
    Bytes bytes(GetParam().foreign(twins().text) + GetParam().foreign("behind"));
    CompressedText text = bytes.text();
    EXPECT_TRUE(rest_of(text) == twins().text + "behind");
    EXPECT_EQ(text.size(), static_cast<int64_t>(twins().text.size() + 6));
    text.seek(static_cast<int64_t>(twins().text.size()));
    EXPECT_EQ(rest_of(text), "behind");
}

TEST_P(Compressed, MayEndOnTheLineOfAState)
{
    const std::string text = "<?xml version='1.0' encoding='UTF-8'?>\n<Program version='1'>\n"
                             "<A time='0.000000001' end='0.000000002' /></Program>\n";
    std::string file;
    TraceCompressor compressor(GetParam().compression, [&](std::string_view bytes) { file += bytes; });
    compressor.write(text);
    compressor.close();
    Bytes bytes(file);
    CompressedText read = bytes.text();
    EXPECT_EQ(rest_of(read), text);
}

// The last unit becomes a part of a block, which has a longer head.
TEST(CompactText, IsNotMixedOfWhatWasAndWhatIsWritten)
{
    TraceSettings settings;
    settings.form.compression = Compression::compact;
    Trace trace(settings);
    std::string files[2], texts[2];
    for (int i = 0; i < 2; ++i) {
        for (int call = 0; call < 30'000; ++call)
            trace.state("Call", call * (i + 1), call * (i + 2));
        EXPECT_EQ(trace.writer.save(), 0);
        files[i] = content_of(trace.path() + ".compact");
        Bytes bytes(files[i]);
        CompressedText text = bytes.text();
        texts[i] = rest_of(text);
    }
    for (int reads = 0; reads < 8; ++reads) {
        int done = 0;
        const auto read_at = [&](std::int64_t offset, char* target, std::size_t size) {
            const std::string& file = files[done++ <= reads ? 0 : 1];
            return static_cast<std::size_t>(offset) < file.size() ? file.copy(target, size, offset) : 0;
        };
        CompressedText text(read_at, static_cast<std::int64_t>(files[0].size()));
        const std::string read = rest_of(text);
        EXPECT_TRUE(texts[0].starts_with(read) || texts[1].starts_with(read)) << reads;
        EXPECT_EQ(text.refusal(), "") << reads;
    }
}

TEST(CompressedNames, AreFoundByThePlainOne)
{
    const TemporaryDirectory directory;
    const std::string plain = directory.file("a_h_0_0.trc");
    EXPECT_EQ(detail::existing_name(plain), plain);
    for (const char* suffix : {".compact", ".gz", ".zst", ""}) {
        std::ofstream(plain + suffix) << "x";
        EXPECT_EQ(detail::existing_name(plain), plain + suffix);
        EXPECT_EQ(detail::existing_name(plain + suffix), plain + suffix);
        EXPECT_EQ(detail::plain_name(plain + suffix), plain);
    }
}

} // namespace
} // namespace hdtrace::test
