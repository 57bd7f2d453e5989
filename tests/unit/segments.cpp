// Traces of which only the last part is kept: what the writer leaves, as the reader sees it.
#include "read_back.h"
#include "writer_support.h"

#include <algorithm>

namespace hdtrace::test {
namespace {

int overwritten = 0;

TraceSettings small_segments(Compression compression)
{
    static const int64_t size = 20'000;
    TraceSettings settings;
    settings.force_flush = true; // so that segments end where they are full, not where buffers are
    settings.segment_size = &size;
    settings.form.compression = compression;
    settings.on_overwritten = [] { ++overwritten; };
    return settings;
}

void write_states(Trace& trace, int first, int end)
{
    for (int i = first; i < end; ++i)
        trace.state("State", i, i + 1);
}

void expect_last(const std::vector<int64_t>& times, int end)
{
    ASSERT_FALSE(times.empty());
    for (size_t i = 0; i < times.size(); ++i)
        EXPECT_EQ(times[i], end - static_cast<int64_t>(times.size()) + static_cast<int64_t>(i));
}

class Segments : public testing::TestWithParam<Compression> {
  protected:
    Segments() { overwritten = 0; }

    Trace trace{small_segments(GetParam())};
};

TEST_P(Segments, AreReadAsOneTrace)
{
    write_states(trace, 0, 300);
    const ReadBack found = read_back(trace.path());
    EXPECT_TRUE(found.has_segments && found.is_complete);
    EXPECT_EQ(found.times.size(), 300u);
    expect_last(found.times, 300);
    EXPECT_EQ(overwritten, 0);
}

TEST_P(Segments, KeepTheLastStatesAtEachMoment)
{
    size_t most = 0;
    for (int end = 250; end <= 6000; end += 250) {
        write_states(trace, end - 250, end);
        const ReadBack found = read_back(trace.path());
        expect_last(found.times, end);
        EXPECT_EQ(found.before + static_cast<int64_t>(found.times.size()), end);
        most = std::max(most, found.times.size());
    }
    EXPECT_LT(most, 6000u);
    EXPECT_GT(overwritten, 0);
}

// What was saved of a compact segment comes into the next one, if that begins then.
TEST_P(Segments, KnowHowManyStatesWereBeforeAlsoWhereSomeWereSaved)
{
    TraceSettings settings = small_segments(GetParam());
    settings.force_flush = false;
    settings.buffer_size = 10'000;
    Trace saved(settings);
    for (int end = 7'000; end <= 280'000; end += 7'000) {
        write_states(saved, end - 7'000, end);
        EXPECT_EQ(saved.writer.save(), 0);
        const ReadBack found = read_back(saved.path());
        EXPECT_EQ(found.before + static_cast<int64_t>(found.times.size()), end);
    }
}

TEST_P(Segments, AreFoundByTime)
{
    write_states(trace, 0, 6000);
    const ReadBack found = read_back(trace.path(), 5900);
    ASSERT_FALSE(found.times.empty());
    EXPECT_EQ(found.times.front(), 5899) << "the first that ends then";
    expect_last(found.times, 6000);
}

TEST_P(Segments, OfAProcessThatWasKilledWhenItBeganOne)
{
    write_states(trace, 0, 6000);
    const size_t all = read_back(trace.path()).times.size();
    const std::string first = trace.path() + suffix_of(GetParam());
    for (const char* const number : {"", ".1", ".2", ".3"}) {
        const std::string path = first + number;
        const std::string content = content_of(path);
        std::filesystem::resize_file(path, 0);
        const ReadBack rest = read_back(trace.path());
        EXPECT_FALSE(rest.times.empty()) << path;
        EXPECT_LT(rest.times.size(), all) << path;
        EXPECT_TRUE(rest.is_complete) << path;
        std::ofstream(path, std::ios::binary) << content;
    }
}

TEST_P(Segments, HaveNoUnfinishedStateThatHasEnded)
{
    write_states(trace, 0, 100);
    trace.begin("Late", base_second * second + 100);
    trace.writer.save();
    trace.end("Late", 100, 200);
    write_states(trace, 200, 600);
    trace.writer.close();
    const ReadBack found = read_back(trace.path());
    EXPECT_EQ(std::ranges::count(found.names, "Late"), 1);
    EXPECT_EQ(found.unfinished, 0);
    EXPECT_EQ(found.times.size(), 501u);
}

INSTANTIATE_TEST_SUITE_P(, Segments,
                         testing::Values(Compression::none, Compression::zstd, Compression::compact),
                         [](const auto& info) {
                             return info.param == Compression::none   ? "plain"
                                    : info.param == Compression::zstd ? "zstd"
                                                                      : "compact";
                         });

TEST(LaterRuns, LeaveNoOldSegments)
{
    TemporaryDirectory directory;
    const std::string path = directory.file("a_h_0_0.trc");
    for (const char* const name : {".1", ".2", ".3", ".zst.1", ".gz.1", ".gz.2"})
        std::ofstream(path + name) << "old";
    TraceWriter writer;
    EXPECT_EQ(writer.open(path.c_str(), "", base_second, {}, nullptr), 0);
    const std::filesystem::directory_iterator files(directory.path());
    EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

} // namespace
} // namespace hdtrace::test
