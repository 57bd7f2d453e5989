// The .info file.
#include "writer_support.h"

#include <errno.h>
#include <thread>

namespace hdtrace::test {
namespace {

int write(InfoWriter& writer, const std::string& lines)
{
    return writer.write(lines.data(), lines.size());
}

TEST(InfoWriter, KeepsLinesUntilTheyAreFlushed)
{
    const TemporaryDirectory directory;
    InfoWriter info;
    ASSERT_EQ(info.open(directory.file("i").c_str()), 0);
    EXPECT_EQ(write(info, "Process base='a'\n"), 0);
    EXPECT_EQ(content_of(directory.file("i")), "");
    EXPECT_EQ(info.flush(), 0);
    EXPECT_EQ(content_of(directory.file("i")), "Process base='a'\n");
    EXPECT_EQ(write(info, "End\n"), 0);
    EXPECT_EQ(info.close(), 0);
    EXPECT_EQ(content_of(directory.file("i")), "Process base='a'\nEnd\n");
}

TEST(InfoWriter, TakesLinesOfAnyLengthInOrder)
{
    const TemporaryDirectory directory;
    InfoWriter info;
    ASSERT_EQ(info.open(directory.file("i").c_str()), 0);
    std::string expected;
    for (const size_t length : {1u, 100u, 16'384u, 1u, 16'383u, 5'000u, 12'000u, 100'000u, 7u}) {
        const std::string line = std::string(length - 1, 'x') + "\n";
        EXPECT_EQ(write(info, line), 0);
        expected += line;
    }
    EXPECT_EQ(info.close(), 0);
    EXPECT_EQ(content_of(directory.file("i")), expected);
}

TEST(InfoWriter, IsFlushedBeforeTheTraceThatRefersToIt)
{
    const TemporaryDirectory directory;
    InfoWriter info;
    ASSERT_EQ(info.open(directory.file("i").c_str()), 0);
    Trace trace({}, &info);
    write(info, "Comm id=0\n");
    trace.state("A");
    EXPECT_EQ(content_of(directory.file("i")), "");
    trace.writer.flush();
    EXPECT_EQ(content_of(directory.file("i")), "Comm id=0\n");
}

TEST(InfoWriter, SaysWhyItCannotBeOpened)
{
    const TemporaryDirectory directory;
    InfoWriter info;
    EXPECT_EQ(info.open(directory.file("missing/i").c_str()), ENOENT);
    EXPECT_EQ(write(info, "lost\n"), ENOENT);
    EXPECT_EQ(info.flush(), ENOENT);
    EXPECT_EQ(info.close(), ENOENT);
}

TEST(InfoWriter, RemembersThatTheDiskWasFull)
{
    InfoWriter info;
    ASSERT_EQ(info.open("/dev/full"), 0);
    EXPECT_EQ(write(info, "lost\n"), 0);
    EXPECT_EQ(info.flush(), ENOSPC);
    EXPECT_EQ(write(info, "lost as well\n"), ENOSPC);
    EXPECT_EQ(info.flush(), ENOSPC);
    EXPECT_EQ(info.close(), ENOSPC);
}

TEST(InfoWriter, ThreadsDoNotMixTheirLines)
{
    const TemporaryDirectory directory;
    InfoWriter info;
    ASSERT_EQ(info.open(directory.file("i").c_str()), 0);
    constexpr int threads = 4, lines = 2'000;
    std::vector<std::thread> writers;
    for (int number = 0; number < threads; ++number) {
        writers.emplace_back([&info, number] {
            const std::string line = "Line of=" + std::to_string(number) + " end\n";
            for (int i = 0; i < lines; ++i)
                write(info, line);
        });
    }
    for (std::thread& writer : writers)
        writer.join();
    EXPECT_EQ(info.close(), 0);
    const std::string content = content_of(directory.file("i"));
    for (int number = 0; number < threads; ++number)
        EXPECT_EQ(occurrences(content, "Line of=" + std::to_string(number) + " end\n"),
                  static_cast<size_t>(lines));
    EXPECT_EQ(content.size(), static_cast<size_t>(threads * lines) * strlen("Line of=0 end\n"));
}

} // namespace
} // namespace hdtrace::test
