// The .info file.
#include "writer_support.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

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

// A process that writes a file, and lives until the object ends.
class OtherProcess {
  public:
    OtherProcess(const std::string& path, const std::string& lines)
    {
        int ends[2];
        if (pipe(ends) != 0)
            throw std::runtime_error("no pipe");
        m_process = fork();
        if (m_process == 0) {
            InfoWriter info;
            const bool is_good = info.open(path.c_str()) == 0 && write(info, lines) == 0 && info.flush() == 0;
            if (is_good && ::write(ends[1], "!", 1) == 1)
                pause();
            _exit(1);
        }
        ::close(ends[1]);
        char mark;
        m_is_ready = read(ends[0], &mark, 1) == 1;
        ::close(ends[0]);
    }
    ~OtherProcess()
    {
        kill(m_process, SIGKILL);
        waitpid(m_process, nullptr, 0);
    }
    bool is_ready() const { return m_is_ready; }

  private:
    pid_t m_process;
    bool m_is_ready = false;
};

TEST(InfoWriter, LeavesTheFileOfALivingProcessAlone)
{
    const TemporaryDirectory directory;
    const std::string path = directory.file("i");
    {
        const OtherProcess other(path, "Process base='other'\n");
        ASSERT_TRUE(other.is_ready());
        InfoWriter info;
        EXPECT_EQ(info.open(path.c_str()), EBUSY);
        EXPECT_EQ(info.open(directory.file("j").c_str()), 0);
        EXPECT_EQ(write(info, "End\n"), 0);
        EXPECT_EQ(info.close(), 0);
        EXPECT_EQ(content_of(path), "Process base='other'\n");
        EXPECT_EQ(content_of(directory.file("j")), "End\n");
    }
    InfoWriter info;
    EXPECT_EQ(info.open(path.c_str()), 0);
    EXPECT_EQ(content_of(path), "");
}

TEST(InfoWriter, LeavesAnOpenFileOfItsOwnProcessAlone)
{
    const TemporaryDirectory directory;
    const std::string path = directory.file("i");
    InfoWriter first, second;
    ASSERT_EQ(first.open(path.c_str()), 0);
    EXPECT_EQ(write(first, "Process base='first'\n"), 0);
    EXPECT_EQ(second.open(path.c_str()), EBUSY);
    EXPECT_FALSE(OtherProcess(path, "lost\n").is_ready()) << "the lock is still there";
    EXPECT_EQ(first.close(), 0);
    EXPECT_EQ(content_of(path), "Process base='first'\n");
    EXPECT_EQ(second.open(path.c_str()), 0);
    EXPECT_EQ(second.close(), 0);
}

TEST(InfoWriter, ChildrenDoNotKeepTheFile)
{
    const TemporaryDirectory directory;
    const std::string path = directory.file("i");
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t parent = fork();
    if (parent == 0) {
        InfoWriter info;
        if (info.open(path.c_str()) != 0)
            _exit(1);
        const pid_t child = fork();
        if (child == 0) {
            pause();
            _exit(0);
        }
        _exit(::write(ends[1], &child, sizeof child) == sizeof child ? 0 : 1);
    }
    pid_t child = 0;
    ASSERT_EQ(read(ends[0], &child, sizeof child), ssize_t{sizeof child});
    waitpid(parent, nullptr, 0);
    InfoWriter info;
    EXPECT_EQ(info.open(path.c_str()), 0);
    kill(child, SIGKILL);
    ::close(ends[0]);
    ::close(ends[1]);
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
